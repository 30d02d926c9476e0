"""What reviewers found in a project, and what it amounts to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from lictor import _lictor
from lictor.approvals import user
from lictor.errors import LedgerError
from lictor.project import Project

Level = Literal["LOW", "MEDIUM", "HIGH", "CRITICAL"]


@dataclass(frozen=True)
class Evidence:
    """Where a finding shows."""

    file: str
    line: int | None = None
    note: str = ""

    def __str__(self) -> str:
        if self.line is None:
            # A note belongs to a line: without one it would be read as part of the file's name.
            return self.file
        return f"{self.file}:{self.line}{f':{self.note}' if self.note else ''}"


def parse_evidence(spec: str) -> Evidence:
    """``file``, ``file:line`` or ``file:line:note``; a drive (``C:/…``) is part of the file."""
    return Evidence(*_lictor.parse_evidence(spec))


@dataclass(frozen=True)
class Finding:
    """A reviewer's claim. ``fields`` has all that is known of it."""

    id: str
    level: Level
    title: str
    agent: str = ""
    evidence: tuple[Evidence, ...] = ()
    rationale: str = ""
    created_at: float = 0.0
    status: str = "open"
    fields: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


def build_finding(
    level: Level,
    title: str,
    agent: str = "",
    evidence: Sequence[Evidence | str] = (),
    rationale: str = "",
    id: str | None = None,
    created_at: float | None = None,
) -> Finding:
    """A finding as the ledger would record it. Evidence that names no file is left out."""
    if level not in get_args(Level):
        raise LedgerError(f"`{level}` is no level", f"use one of {', '.join(get_args(Level))}")
    places = [parse_evidence(one) if isinstance(one, str) else one for one in evidence]
    shown = tuple(one for one in places if one.file.strip())
    name = id or _lictor.finding_id(agent, title, shown[0].file if shown else "")
    return Finding(name, level, title, agent, shown, rationale, time.time() if created_at is None else created_at)


@dataclass(frozen=True)
class PlanVerdict:
    """A plan's findings and what they amount to: the worst level of those that are open."""

    plan_hash: str
    level: str
    summary: str
    findings: tuple[Finding, ...]
    created_at: float
    updated_at: float
    fields: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


# The document's name for it.
Verdict = PlanVerdict


def recent_verdicts(limit: int = 10, min_level: Level = "LOW", ledger: Ledger | None = None) -> list[dict[str, Any]]:
    """The plans whose verdict changed last, of the project around the current directory."""
    return (ledger or Ledger()).recent_verdicts(limit, min_level)


class Ledger:
    """The findings of a project. Hooks and reviewers use the same ones."""

    def __init__(self, project: Project | None = None) -> None:
        self._project = project or Project.open()

    def record(
        self,
        plan_hash: str,
        level: Level,
        title: str,
        agent: str = "",
        evidence: Sequence[Evidence | str] = (),
        rationale: str = "",
        id: str | None = None,
    ) -> str:
        """Records a finding and gives its id. The same one again refines it or raises its level, and never lowers it."""
        finding = {
            "plan": plan_hash,
            "level": level,
            "title": title,
            "agent": agent,
            "evidence": [text for text in map(str, evidence) if text.strip()],
            "rationale": rationale,
            "id": id,
        }
        return str(self._project.record(finding)["id"])

    def show(self, plan_hash: str) -> PlanVerdict:
        """A plan's verdict. The plan may be shortened."""
        return _verdict(self._project._raw.verdict(plan_hash))

    def explain(self, plan_hash: str) -> str:
        """The same in words."""
        return self._project._raw.explain(plan_hash)

    def recent_verdicts(self, limit: int = 10, min_level: Level = "LOW") -> list[dict[str, Any]]:
        """The plans whose verdict changed last."""
        recent = self._project._raw.retro(limit, min_level)
        rows: list[dict[str, Any]] = recent["plans"] if isinstance(recent, dict) else recent
        return rows

    def clear(self, plan_hash: str, id: str, *, by: str | None = None, reason: str = "") -> bool:
        """Takes a finding out of its plan's level. Whether there was such an open one. For people, not for agents."""
        return self._project._raw.clear(plan_hash, id, by or user(), reason)

    def waive(
        self, plan_hash: str, id: str, *, reason: str, by: str | None = None, until: float | None = None
    ) -> None:
        """Lets a finding stand, until a moment (seconds since 1970) or for good. For people, not for agents."""
        self._project._raw.waive(plan_hash, id, by or user(), reason, until)


def _verdict(fields: dict[str, Any]) -> PlanVerdict:
    return PlanVerdict(
        fields["plan_hash"],
        fields["level"],
        fields.get("summary", ""),
        tuple(_finding(finding) for finding in fields["findings"]),
        fields["created_at"],
        fields["updated_at"],
        fields,
    )


def _finding(fields: dict[str, Any]) -> Finding:
    evidence = tuple(Evidence(one["file"], one.get("line"), one.get("note") or "") for one in fields.get("evidence", ()))
    return Finding(
        fields["id"],
        fields["level"],
        fields["title"],
        fields.get("agent", ""),
        evidence,
        fields.get("rationale") or "",
        fields["created_at"],
        fields.get("status", "open"),
        fields,
    )
