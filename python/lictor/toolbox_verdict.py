"""``python -m lictor.toolbox_verdict record|show|retro|explain|clear …``: hands over to ``lictor verdict`` of the native program."""

from __future__ import annotations

import sys

from lictor.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["verdict", *sys.argv[1:]]))
