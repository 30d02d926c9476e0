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
    def of(result: Outcome | bool | BaseException) -> Outcome:
        """From a success flag or from what was raised."""
        if isinstance(result, Outcome):
            return result
        if isinstance(result, BaseException):
            return Outcome(success=False, error=f"{type(result).__name__}: {result}")
        return Outcome(success=result)


@dataclass(frozen=True)
class Answer:
    """A person's word on one question."""

    approved: bool
    reason: str | None = None
