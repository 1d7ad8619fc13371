"""Every public name against inputs and arguments that nobody chose: `law` says what must hold."""
