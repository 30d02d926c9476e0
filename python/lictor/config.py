"""Policies from files."""

from __future__ import annotations

import os

from lictor.project import Project


def load(path: str | os.PathLike[str] = "governance.yaml") -> Project:
    """The policy of a file; see :meth:`lictor.PolicyEngine.from_file`."""
    return Project.from_file(path)


from_file = load
