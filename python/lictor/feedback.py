"""Feedback: what an agent is told after a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from lictor.context import SessionState

Severity = Literal["info", "caution", "warning"]


@dataclass(frozen=True)
class Observation:
    """Something that was seen. ``evidence`` is kept in the record and not said to the agent."""

    category: str
    description: str
    evidence: str | None = None


@dataclass(frozen=True)
class Feedback:
    """One piece of guidance."""

    summary: str
    observations: Sequence[Observation] = ()
    suggestions: Sequence[str] = ()
    severity: Severity = "info"
    # Who spoke. The engine knows; it is kept for :meth:`render`.
    provider_name: str = ""

    def render(self) -> str:
        """As the agent reads it."""
        lines = [self.summary, *(f"- {one.category}: {one.description}" for one in self.observations)]
        lines += ["", *(f"-> {one}" for one in self.suggestions)] if self.suggestions else []
        text = "\n".join(lines)
        return f"<feedback provider='{self.provider_name}'>\n{text}\n</feedback>"

    def to_dict(self) -> dict[str, Any]:
        seen = [
            {"category": one.category, "description": one.description, **({"evidence": one.evidence} if one.evidence else {})}
            for one in self.observations
        ]
        return {
            "summary": self.summary,
            "observations": seen,
            "suggestions": list(self.suggestions),
            "severity": self.severity,
        }


@dataclass(frozen=True)
class FileCreatedTrigger:
    """A file that appears, once a session."""

    filename: str


@dataclass(frozen=True)
class FeedbackTrigger:
    """When a provider speaks: any of these is enough. A file counts once a session, when it appears."""

    every_n_calls: int | None = None
    every_n_seconds: float | None = None
    on_file_created: str | FileCreatedTrigger | None = None

    def to_dict(self) -> dict[str, Any]:
        millis = None if self.every_n_seconds is None else max(1, round(self.every_n_seconds * 1000))
        file = self.on_file_created
        return {
            "every_n_calls": self.every_n_calls,
            "every_n_millis": millis,
            "on_file_created": file.filename if isinstance(file, FileCreatedTrigger) else file,
        }


class FeedbackContext:
    """What a provider may look at: the session after the call, what was said and what was called."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    @property
    def session(self) -> SessionState:
        return SessionState(self._fields["session"])

    @property
    def session_id(self) -> str:
        return str(self._fields["session_id"])

    @property
    def now(self) -> float:
        """Seconds since 1970."""
        return float(self._fields["now"]) / 1000

    @property
    def deadline(self) -> float | None:
        """When the session's time is over, in seconds since 1970."""
        left = self._fields["left"].get("deadline_ms")
        return None if left is None else self.now + left / 1000

    @property
    def tool_call_count(self) -> int:
        return int(self._fields["calls"])

    @property
    def last_feedback(self) -> dict[str, Any] | None:
        """What was said last, by anybody: ``{provider, feedback, at}``."""
        said: dict[str, Any] | None = self._fields["last_feedback"]
        return said

    @property
    def last_own_feedback(self) -> dict[str, Any] | None:
        said: dict[str, Any] | None = self._fields["last_own_feedback"]
        return said

    @property
    def prompt(self) -> str | None:
        """What a person asked for last."""
        text: str | None = self._fields["prompt"]
        return text

    def tool_calls_since_last_feedback(self) -> int:
        """Calls since anybody spoke."""
        return int(self._fields["calls_since_any"])

    def tool_calls_since_own_feedback(self) -> int:
        return int(self._fields["calls_since_own"])

    def recent_tool_calls(self, n: int = 10) -> list[dict[str, Any]]:
        """The newest calls, the newest last, at most 50: ``{tool, kind, payload, decision, outcome?, at}``."""
        calls: list[dict[str, Any]] = self._fields["recent_calls"]
        return calls[-n:] if n > 0 else []


@runtime_checkable
class FeedbackProvider(Protocol):
    """``should_run`` may be left out. A provider that does not want to speak stays due."""

    @property
    def name(self) -> str: ...

    def provide(self, *, context: FeedbackContext) -> Feedback | None: ...


@dataclass(frozen=True)
class FeedbackProviderConfig:
    """A provider with its trigger."""

    provider: FeedbackProvider | NativeProvider
    trigger: FeedbackTrigger = FeedbackTrigger(every_n_calls=1)

    def build(self) -> tuple[Any, ...]:
        """What the bridge takes."""
        provider = self.provider
        if isinstance(provider, NativeProvider):
            return ("native", {"name": provider.name, "trigger": self.trigger.to_dict(), "source": provider.source})
        wants = getattr(provider, "should_run", None)

        def should_run(fields: dict[str, Any]) -> bool:
            return wants is None or bool(wants(context=FeedbackContext(fields)))

        def provide(fields: dict[str, Any]) -> dict[str, Any] | None:
            said = provider.provide(context=FeedbackContext(fields))
            return None if said is None else said.to_dict()

        return ("python", provider.name, self.trigger.to_dict(), should_run, provide)


class NativeProvider:
    """A provider of the engine."""

    def __init__(self, name: str, source: dict[str, Any]) -> None:
        self.name, self.source = name, source


class StaticFeedbackProvider(NativeProvider):
    """Always says the same."""

    def __init__(self, feedback: str, name: str = "static") -> None:
        super().__init__(name, {"Static": {"say": feedback}})


class DeadlineFeedback(NativeProvider):
    """How much time is left, counted from the session's first action."""

    def __init__(self, seconds: float, warning_threshold_seconds: float = 120, name: str = "deadline") -> None:
        after, warn = round(seconds * 1000), round(warning_threshold_seconds * 1000)
        super().__init__(name, {"Deadline": {"after": after, "warn_below": warn}})


class BudgetFeedback(NativeProvider):
    """How many actions are left."""

    def __init__(self, max_actions: int, warn_at: float = 0.8, name: str = "budget") -> None:
        super().__init__(name, {"Budget": {"max_actions": max_actions, "warn_at": round(warn_at * 1000)}})


class StallFeedback(NativeProvider):
    """That the last calls failed one after the other."""

    def __init__(self, failures: int = 3, name: str = "stall") -> None:
        super().__init__(name, {"Stall": {"failures": failures}})


def configured(given: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Providers with or without a trigger, as the bridge takes them."""
    configs = [one if isinstance(one, FeedbackProviderConfig) else FeedbackProviderConfig(one) for one in given]
    return [config.build() for config in configs]
