"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

    python tools/lowest_versions.py [EXTRA ...] > lowest.txt

They are those of the package itself and of the named extras, with the extras that these contain.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,-]*)\])?(?:>=([\w.]+))?")


def lowest(project: dict, extras: list[str]) -> dict[str, str]:
    """The lowest version of each package that the project and these extras require."""
    found: dict[str, str] = {}

    def add(requirements: list[str]) -> None:
        for requirement in requirements:
            parts = REQUIREMENT.fullmatch(requirement)
            name, inner, floor = parts.groups() if parts else (None, None, None)
            if name == project["name"] and inner:
                for extra in inner.split(","):
                    add(project["optional-dependencies"][extra])
            elif floor is None:
                raise ValueError(
                    f'pyproject.toml: "{requirement}" has no floor; write NAME>=VERSION'
                )
            elif found.setdefault(name, floor) != floor:
                raise ValueError(
                    f"pyproject.toml: {name} has two floors, {found[name]} and {floor}"
                )

    add(project["dependencies"])
    for extra in extras:
        add(project["optional-dependencies"][extra])
    return found


def main() -> int:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    for name, version in sorted(lowest(tomllib.loads(text)["project"], sys.argv[1:]).items()):
        print(f"{name}=={version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
