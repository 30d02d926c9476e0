"""``python -m lictor``: hands over to the native program of this distribution."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig


def program() -> str | None:
    """The native program: beside this package's scripts, in the user scheme, or on the PATH."""
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))]
    for directory in schemes:
        candidate = os.path.join(directory, "lictor")
        if os.access(candidate, os.X_OK):
            return candidate
    return shutil.which("lictor")


def main(arguments: list[str]) -> int:
    """Becomes the native program."""
    native = program()
    if native is None:
        print("lictor: the native program is missing; install `lictor` again from a wheel", file=sys.stderr)
        # A hook that cannot be started must block.
        return 2
    os.execv(native, [native, *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
