"""``python -m calibcore``: the same as the command ``calibcore``."""

import sys

from calibcore.cli import main

if __name__ == "__main__":
    sys.exit(main())
