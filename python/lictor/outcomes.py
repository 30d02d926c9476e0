"""What came of an action, and what a person says about a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """What happened after the action."""

    success: bool = True
    exit_code: int | None = None
    error: str | None = None
    changed: Sequence[str] = ()
    duration_ms: int | None = None

    def to_dict(self) -> dict[str, Any]:
        fields = {"exit_code": self.exit_code, "error": self.error, "millis": self.duration_ms}
        filled = {key: value for key, value in fields.items() if value is not None}
        return {"success": self.success, "changed": list(self.changed), **filled}

    @staticmethod
    def from_dict(fields: dict[str, Any]) -> Outcome:
        """What :meth:`to_dict` made."""
        return Outcome(
            bool(fields["success"]),
            fields.get("exit_code"),
            fields.get("error"),
            tuple(fields.get("changed") or ()),
            fields.get("millis"),
        )

    @staticmethod
    def of(result: Outcome | bool | BaseException) -> Outcome:
        """From a success flag or from what was raised."""
        if isinstance(result, Outcome):
            return result
        if isinstance(result, BaseException):
            return Outcome(success=False, error=f"{type(result).__name__}: {result}")
        # A failure that says nothing about itself would not count as one that is known.
        return Outcome(success=result, error=None if result else "it failed")


@dataclass(frozen=True)
class Answer:
    """A person's word on one question."""

    approved: bool
    reason: str | None = None


@dataclass(frozen=True)
class StopResult:
    """Whether an agent may stop. ``outcome`` is ``complete``, ``incomplete``, ``bypassed`` or ``released_unmet``."""

    outcome: str
    reasons: tuple[str, ...]
    round: int

    @property
    def blocks(self) -> bool:
        return self.outcome == "incomplete"

    @property
    def message(self) -> str:
        """What the agent is told when it is sent back."""
        return "\n".join(self.reasons)
