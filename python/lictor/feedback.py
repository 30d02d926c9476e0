"""Feedback: what an agent is told after a call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from lictor import _lictor
from lictor._given import having, number, several, texts, whole, word
from lictor.errors import PolicyError
from lictor.context import CalledContext

if TYPE_CHECKING:
    from datetime import timedelta

    from lictor.ledger import Ledger, Level

# How many plans with open findings are named.
_PLANS = 5

Severity = Literal["info", "caution", "warning"]


@dataclass(frozen=True)
class Observation:
    """Something that was seen. ``evidence`` is kept in the record and not said to the agent."""

    category: str
    description: str
    evidence: str | None = None


@dataclass(frozen=True)
class Feedback:
    """One piece of guidance. The engine knows who speaks, so ``Feedback("text")`` is enough; ``provider_name`` counts for
    :meth:`render`."""

    provider_name: str
    summary: str = None  # type: ignore[assignment]
    observations: Sequence[Observation] = ()
    suggestions: Sequence[str] = ()
    severity: Severity = "info"

    def __post_init__(self) -> None:
        if self.summary is None:
            object.__setattr__(self, "summary", self.provider_name)
            object.__setattr__(self, "provider_name", "")

    def render(self) -> str:
        """As the agent reads it."""
        return _lictor.render_feedback(self.provider_name, self.to_dict())

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

    def __post_init__(self) -> None:
        if self.every_n_calls is not None:
            whole("every_n_calls", self.every_n_calls, 1)
        if self.every_n_seconds is not None:
            number("every_n_seconds", self.every_n_seconds, above=True)
        if not isinstance(self.on_file_created, (str, FileCreatedTrigger, type(None))):
            raise PolicyError("`on_file_created` does not name a file", "give the name of a file")

    def to_dict(self) -> dict[str, Any]:
        millis = None if self.every_n_seconds is None else max(1, round(self.every_n_seconds * 1000))
        file = self.on_file_created
        return {
            "every_n_calls": self.every_n_calls,
            "every_n_millis": millis,
            "on_file_created": file.filename if isinstance(file, FileCreatedTrigger) else file,
        }


class FeedbackContext(CalledContext):
    """What a provider may look at: the session after the call, what was said and what was called."""

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

    def last_feedback_for_provider(self, name: str) -> dict[str, Any] | None:
        """What that provider said last: ``{provider, feedback, at}``."""
        said: dict[str, Any] | None = self._fields["providers"].get(name, {}).get("last")
        return said

    def tool_calls_since_last_feedback_for_provider(self, name: str) -> int:
        """Calls since that provider spoke; all of them when it never did."""
        return int(self._fields["providers"].get(name, {}).get("calls_since", self.tool_call_count))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return dict(self._fields)


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

    def __post_init__(self) -> None:
        if not isinstance(self.provider, NativeProvider):
            having("provider", self.provider, "provide")
        if not isinstance(self.trigger, FeedbackTrigger):
            raise PolicyError(f"`{self.trigger!r}` is not a trigger", "give a `FeedbackTrigger`")

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
        super().__init__(name, {"Static": {"say": word("feedback", feedback)}})


class DeadlineFeedback(NativeProvider):
    """How much time is left, counted from the session's first action."""

    def __init__(
        self, deadline: float | timedelta, warning_threshold_seconds: float = 120, name: str = "deadline"
    ) -> None:
        length: Any = getattr(deadline, "total_seconds", None)
        seconds = number("deadline", deadline if length is None else length())
        after, warn = round(seconds * 1000), round(number("warning_threshold_seconds", warning_threshold_seconds) * 1000)
        super().__init__(name, {"Deadline": {"after": after, "warn_below": warn}})


class BudgetFeedback(NativeProvider):
    """How many actions are left."""

    def __init__(self, max_actions: int, warn_at: float = 0.8, name: str = "budget") -> None:
        super().__init__(name, {"Budget": {"max_actions": whole("max_actions", max_actions), "warn_at": round(number("warn_at", warn_at) * 1000)}})


class StallFeedback(NativeProvider):
    """That the last calls failed one after the other."""

    def __init__(self, failures: int = 3, name: str = "stall") -> None:
        super().__init__(name, {"Stall": {"failures": whole("failures", failures, 1)}})


class FindingsFeedback:
    """Which findings of that level or above are open in a project's ledger. Silent when there are none."""

    def __init__(self, ledger: Ledger, level: Level = "HIGH", name: str = "findings") -> None:
        self._ledger, self.name = ledger, name
        self._level: Level = level

    def provide(self, *, context: FeedbackContext) -> Feedback | None:
        plans = self._ledger.recent_verdicts(limit=_PLANS, min_level=self._level)
        if not plans:
            return None
        seen = [Observation(str(plan["level"]), f"{plan['plan_hash']}: {plan['summary']}") for plan in plans]
        return Feedback(self.name, f"{len(plans)} plan(s) have open findings.", seen, ["Settle them before you commit."])


class CommandFeedback:
    """A program that is given the situation as JSON on its standard input and prints what it has to say, as text or as the
    fields of a :class:`Feedback`. It runs without a shell, in ``cwd``."""

    def __init__(
        self, argv: Sequence[str], timeout: float = 2, name: str = "command", cwd: str | os.PathLike[str] | None = None
    ) -> None:
        self._argv, self._timeout, self._cwd, self.name = texts("argv", argv), timeout, cwd, name

    def provide(self, *, context: FeedbackContext) -> Feedback | None:
        import json
        import subprocess

        given = json.dumps({"lictor": 1, "for": "feedback", "name": self.name, **context.to_dict()})
        ran = subprocess.run(
            self._argv, input=given, capture_output=True, text=True, timeout=self._timeout, cwd=self._cwd, check=True
        )
        said = ran.stdout.strip()
        if not said.startswith("{"):
            return Feedback(self.name, said) if said else None
        fields = json.loads(said)
        fields["observations"] = [Observation(**one) for one in fields.get("observations", ())]
        return Feedback(self.name, **fields)


def configured(given: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Providers with or without a trigger, as the bridge takes them."""
    configs = [one if isinstance(one, FeedbackProviderConfig) else FeedbackProviderConfig(one) for one in several("feedback", given)]
    return [config.build() for config in configs]
