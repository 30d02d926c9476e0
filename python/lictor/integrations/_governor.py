"""What all adapters share: an action from a tool call, the refusal's words, outcomes, and questions for a person."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lictor.actions import Action, ActionKind
from lictor.engine import EvaluationResult, PolicyEngine
from lictor.outcomes import Answer, Outcome
from lictor.project import Project, ProjectEvaluation

_log = logging.getLogger("lictor")


@dataclass(frozen=True)
class Call:
    """A tool call that was judged."""

    action: Action | None
    result: EvaluationResult | ProjectEvaluation | None
    refusal: str | None

    @property
    def needs_person(self) -> bool:
        return self.result is not None and self.result.decision == "ask"

    @property
    def question(self) -> str:
        return "" if self.result is None else self.result.reason


class Governor:
    """Judges the tool calls of one agent."""

    def __init__(
        self,
        engine: PolicyEngine | Project,
        *,
        session_id: str | None = None,
        agent: str = "",
        kinds: Mapping[str, ActionKind | str] | None = None,
    ) -> None:
        self._engine = engine
        # An engine answers what it asked, and so does a project.
        self._resolve: Any = engine.resolve
        self._options: dict[str, Any] = {"session_id": session_id, "agent": agent}
        self._kinds = kinds
        # Frameworks enter a call anew after an interrupt: it keeps the decision that it got.
        self._judged: dict[tuple[str, str], Call] = {}

    def before(self, name: str, args: Mapping[str, Any], call_id: str | None) -> Call:
        """Judges a call. Never raises for a fault of the policy or of Lictor: that is a refusal."""
        try:
            action = Action.from_tool_call(
                name, args, kinds=self._kinds, tool_use_id=call_id, **self._options
            )
            key = (call_id or "", action.digest)
            if call_id is not None and key in self._judged:
                return self._judged[key]
            call = self._call(action, self._engine.evaluate(action))
            if call_id is not None:
                self._judged[key] = call
            return call
        except Exception as error:
            _log.exception("a tool call could not be judged")
            return Call(None, None, f"Blocked by Lictor: this could not be judged ({type(error).__name__})")

    def answered(self, call: Call, approved: bool, reason: str | None = None) -> Call:
        """A person's word, recorded."""
        if call.action is None or call.result is None or not call.needs_person:
            return call
        answers = [Answer(approved, reason)] * len(call.result.questions)
        answered = self._call(call.action, self._resolve(call.action, call.result, answers))
        if call.action.tool_use_id is not None:
            self._judged[(call.action.tool_use_id, call.action.digest)] = answered
        return answered

    def after(self, call: Call, outcome: Outcome | bool | BaseException) -> str:
        """Records what came of a call. Gives what the model is told in addition."""
        if call.action is None:
            return ""
        return self._engine.post_action(call.action, outcome).feedback_text

    @staticmethod
    def _call(action: Action, result: EvaluationResult | ProjectEvaluation) -> Call:
        if result.passed:
            return Call(action, result, None)
        fix = f"\nHow to go on: {result.fix_for_agent}" if result.fix_for_agent else ""
        return Call(action, result, f"Blocked by Lictor: {result.reason_for_agent}{fix}")
