# SPDX-License-Identifier: MIT
"""`python -m nfsproof` and the console script."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command line; its exit status."""
    try:
        from nfsproof.cli import run_command_line
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] in ("nfsproof", "nfsclient"):
            raise
        hint = "start nfsproof with bin/nfsproof, which installs it"
        sys.stderr.write(f"nfsproof: the package {error.name} is not installed; {hint}\n")
        return 4
    except KeyboardInterrupt:
        sys.stderr.write("\nnfsproof: interrupted\n")
        return 2
    return run_command_line(sys.argv[1:])


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder: its files are not modules
    sys.exit(main())
