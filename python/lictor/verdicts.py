"""What one guard says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from lictor._records import dataclass

Status = Literal["pass", "warn", "ask", "block", "error"]


@dataclass(frozen=True, init=False)
class Verdict:
    """One guard's answer. The engine knows which guard spoke; ``guard`` is kept for readers."""

    status: Status
    guard: str = ""
    reason: str = ""
    fix: str = ""
    rule: str | None = None
    evidence: Any = None

    # What a frozen dataclass would have of its own sets every field through a call; guards make one of these each time.
    def __init__(
        self,
        status: Status,
        guard: str = "",
        reason: str = "",
        fix: str = "",
        rule: str | None = None,
        evidence: Any = None,
    ) -> None:
        fields = self.__dict__
        fields["status"] = status
        fields["guard"] = guard
        fields["reason"] = reason
        fields["fix"] = fix
        fields["rule"] = rule
        fields["evidence"] = evidence

    @staticmethod
    def pass_(guard: str = "", reason: str = "") -> Verdict:
        """No objection."""
        return Verdict("pass", guard, reason) if guard or reason else _PASS

    @staticmethod
    def warn(guard: str = "", reason: str = "", fix: str = "") -> Verdict:
        """May go ahead; the agent and the log get the remark."""
        return Verdict("warn", guard, reason, fix)

    @staticmethod
    def ask(guard: str = "", reason: str = "", fix: str = "") -> Verdict:
        """A person has to say yes."""
        return Verdict("ask", guard, reason, fix)

    @staticmethod
    def block(
        guard: str = "", reason: str = "", fix: str = "", *, rule: str | None = None, evidence: Any = None
    ) -> Verdict:
        """No, and what to do instead."""
        return Verdict("block", guard, reason, fix, rule, evidence)

    @staticmethod
    def error(guard: str = "", reason: str = "", fix: str = "") -> Verdict:
        """The guard could not come to an answer, so the action is blocked."""
        return Verdict("error", guard, reason, fix)

    @property
    def passed(self) -> bool:
        return self.status in ("pass", "warn")

    @property
    def blocked(self) -> bool:
        return not self.passed


# What most guards say of most actions.
_PASS = Verdict("pass")


@dataclass(frozen=True)
class GivenVerdict(Verdict):
    """A verdict with where it was given. ``standing`` is ``active``, ``superseded`` or ``skipped``; ``violation`` is the number of
    the policy violation that it stands for."""

    path: str = ""
    layer: str = ""
    standing: str = "active"
    violation: int | None = None

    @staticmethod
    def of(fields: Mapping[str, Any]) -> GivenVerdict:
        """From the form of ``lictor eval --json``."""
        return GivenVerdict(
            fields["value"],
            fields["guard"],
            fields.get("reason", ""),
            fields.get("fix", ""),
            fields.get("rule"),
            fields.get("evidence"),
            fields["path"],
            fields["layer"],
            fields["status"],
            fields.get("violation"),
        )
