"""Length scales that are learned: families of designs, a process that finds them, the solver."""
