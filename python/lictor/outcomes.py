"""What came of an action, and what a person says about a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lictor._records import dataclass
from lictor.errors import ActionError


@dataclass(frozen=True)
class Outcome:
    """What happened after the action. ``usage`` is what it used of a model: ``{"tokens": 1200, "cost": 0.02}``."""

    success: bool = True
    exit_code: int | None = None
    error: str | None = None
    changed: Sequence[str] = ()
    duration_ms: int | None = None
    usage: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.success, bool):
            raise ActionError(f"`success` is `{self.success!r}`", "give True or False")
        if isinstance(self.changed, (str, bytes)):
            raise ActionError("`changed` is one text and not a list of them", f"give a list: `[{self.changed!r}]`")
        for name, amount in (self.usage or {}).items():
            if name not in ("tokens", "cost"):
                raise ActionError(f"`{name}` is nothing that is counted", "give `tokens`, `cost` or both")
            if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 0 <= amount < float("inf"):
                raise ActionError(f"`{name}` is not an amount that can be used", "give a number from 0 on")

    def to_dict(self) -> dict[str, Any]:
        """The form that ``lictor rpc`` and ``lictor serve`` take."""
        fields = {"exit_code": self.exit_code, "error": self.error, "duration_ms": self.duration_ms}
        filled: dict[str, Any] = {key: value for key, value in fields.items() if value is not None}
        if self.usage:
            filled["usage"] = {name: int(amount) if name == "tokens" else amount for name, amount in self.usage.items()}
        return {"success": self.success, "changed": list(self.changed), **filled}

    def raw(self) -> dict[str, Any]:
        """The form of the record, which the bridge takes."""
        fields = self.to_dict()
        if "duration_ms" in fields:
            fields["millis"] = fields.pop("duration_ms")
        if self.usage:
            fields["usage"] = {
                "tokens": int(self.usage.get("tokens", 0)), "cost_micros": round(self.usage.get("cost", 0) * 1e6)
            }
        return fields

    @staticmethod
    def from_dict(fields: dict[str, Any]) -> Outcome:
        """What :meth:`to_dict` or :meth:`raw` made."""
        used = fields.get("usage") or {}
        cost = used.get("cost_micros", 0) / 1e6 or used.get("cost", 0)
        usage = {name: amount for name, amount in (("tokens", used.get("tokens", 0)), ("cost", cost)) if amount}
        return Outcome(
            bool(fields["success"]),
            fields.get("exit_code"),
            fields.get("error"),
            tuple(fields.get("changed") or ()),
            fields.get("millis", fields.get("duration_ms")),
            usage or None,
        )

    @staticmethod
    def of(result: Outcome | bool | BaseException) -> Outcome:
        """From a success flag or from what was raised."""
        if isinstance(result, Outcome):
            return result
        if isinstance(result, BaseException):
            return Outcome(success=False, error=_said(result))
        if not isinstance(result, bool):
            raise ActionError(f"`{result!r}` does not say what came of the action", "give an `Outcome`, a boolean or an exception")
        # A failure that says nothing about itself would not count as one that is known.
        return Outcome(success=result, error=None if result else "it failed")


def _said(error: BaseException) -> str:
    """An exception in words. They are only told, so what is no Unicode text is escaped and hides no outcome."""
    try:
        text = str(error)
    except Exception:
        text = "it has no words"
    return f"{type(error).__name__}: {text}".encode(errors="backslashreplace").decode()


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
