"""``python -m lictor.adapters.claude_hooks {read,write,bash} "$TOOL_INPUT"``: one call, judged by the native program.

The exit code is the answer: 0 lets the call proceed, 2 stops it. ``lictor init`` installs the faster hooks.
"""

from __future__ import annotations

import json
import subprocess
import sys

from lictor.__main__ import program

# What each kind of call is about, by the names that Claude Code's tools have for it. A search without a directory is one of the
# whole project.
_FIELDS = {"bash": ("command",), "read": ("file_path", "notebook_path", "path"), "write": ("file_path", "notebook_path")}
_SEARCHES = ("pattern", "glob")


def main(arguments: list[str]) -> int:
    native = program()
    if len(arguments) != 2 or arguments[0] not in _FIELDS or native is None:
        print("usage: python -m lictor.adapters.claude_hooks {read,write,bash} TOOL_INPUT", file=sys.stderr)
        return 2
    kind, tool_input = arguments
    try:
        fields = json.loads(tool_input)
        subject = next((fields[name] for name in _FIELDS[kind] if name in fields), None)
        if subject is None and kind == "read" and any(name in fields for name in _SEARCHES):
            subject = "."
    except (ValueError, TypeError):
        subject = None
    if not isinstance(subject, str):
        print("the tool input is not JSON with the expected field; nothing was done", file=sys.stderr)
        return 2
    judged = subprocess.run([native, "eval", kind, "--", subject], capture_output=True, text=True, check=False)
    if judged.returncode != 0:
        print(judged.stdout, end="", file=sys.stderr)
    return 0 if judged.returncode == 0 else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
