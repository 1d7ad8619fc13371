"""The command line, as ``python -m sparsebayes``."""

import sys

from sparsebayes.cli import main

if __name__ == "__main__":
    sys.exit(main())
