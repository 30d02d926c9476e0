"""``python -m lictor.toolbox_verdict record|show|retro|explain|clear …``: hands over to ``lictor verdict`` of the native program.

To import, it has the document's names.
"""

from __future__ import annotations

import sys

from lictor.__main__ import main
from lictor.ledger import Evidence, Finding, Verdict, build_finding, parse_evidence, recent_verdicts

__all__ = ["Evidence", "Finding", "Verdict", "build_finding", "parse_evidence", "recent_verdicts"]

if __name__ == "__main__":
    sys.exit(main(["verdict", *sys.argv[1:]]))
