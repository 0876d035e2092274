"""The `kohort` command."""

from __future__ import annotations

import sys

from . import _kohort


def main() -> int:
    """Run the command line and return its exit code."""
    return _kohort.command(["kohort", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
