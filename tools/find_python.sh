#!/bin/sh
# Print an installed Python of a version such as 3.12, from PATH or from pyenv; fail if there is none.
for candidate in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
    if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
        command -v "$candidate"
        exit 0
    fi
done
exit 1
