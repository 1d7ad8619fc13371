"""Arguments of ``sparsebayes completion``."""

from __future__ import annotations

from argparse import ArgumentParser

SHELLS = ("bash", "zsh", "fish", "tcsh")
EXAMPLES = (
    "completion bash > ~/.local/share/bash-completion/completions/sparsebayes",
    "completion zsh > ~/.zfunc/_sparsebayes",
    "completion fish > ~/.config/fish/completions/sparsebayes.fish",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add them to the parser."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete the words")
