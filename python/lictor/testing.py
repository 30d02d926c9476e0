"""Helpers for tests of policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lictor._lictor import RawClock
from lictor.actions import Action
from lictor.engine import EvaluationResult, PolicyEngine
from lictor.outcomes import Outcome
from lictor.project import Project, ProjectEvaluation


class FixedClock:
    """Time that stands still until it is moved: ``PolicyEngine(…, clock=FixedClock())``. Seconds since 1970."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.raw = RawClock(round(now * 1000))

    @property
    def now(self) -> float:
        return self.raw.now / 1000

    def advance(self, seconds: float) -> None:
        self.raw.set(self.raw.now + round(seconds * 1000))


class RecordingApprover:
    """Answers every question alike and keeps what it was asked: ``PolicyEngine(…, on_ask=RecordingApprover(True))``."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.asked: list[EvaluationResult] = []

    def __call__(self, result: EvaluationResult) -> bool:
        self.asked.append(result)
        return self.answer


def assert_passes(engine: PolicyEngine | Project, action: Action) -> EvaluationResult | ProjectEvaluation:
    """The action may go ahead."""
    return _decides(engine, action, ("pass", "warn"))


def assert_asks(engine: PolicyEngine | Project, action: Action) -> EvaluationResult | ProjectEvaluation:
    """A person has to be asked."""
    return _decides(engine, action, ("ask",))


def assert_blocks(
    engine: PolicyEngine | Project, action: Action, because: str = ""
) -> EvaluationResult | ProjectEvaluation:
    """The action is stopped, for a reason with these words."""
    result = _decides(engine, action, ("block",))
    if because not in result.reason:
        raise AssertionError(f"{action!r} was blocked for another reason: {result.reason}")
    return result


def _decides(
    engine: PolicyEngine | Project, action: Action, wanted: tuple[str, ...]
) -> EvaluationResult | ProjectEvaluation:
    result = engine.evaluate(action)
    if result.decision not in wanted:
        raise AssertionError(f"{action!r}: {result.decision}, not {' or '.join(wanted)}: {result.reason}")
    return result


class ScriptedSession:
    """An agent's session as a script: every call that passes is reported as done. Keeps ``(action, decision)``."""

    def __init__(self, engine: PolicyEngine | Project, session_id: str = "scripted") -> None:
        self.engine, self.session_id = engine, session_id
        self.steps: list[tuple[Action, str]] = []

    def call(
        self, tool: str, args: Mapping[str, Any] | None = None, outcome: Outcome | bool = True
    ) -> EvaluationResult | ProjectEvaluation:
        action = Action.from_tool_call(tool, args, session_id=self.session_id)
        result = self.engine.evaluate(action)
        self.steps.append((action, result.decision))
        if result.passed:
            self.engine.post_action(action, outcome)
        return result

    def run(self, calls: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
        """Several calls; gives their decisions."""
        return [self.call(tool, args).decision for tool, args in calls]
