"""What all adapters share: an action from a tool call, the refusal's words, outcomes, questions and the stop gate."""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from lictor.actions import Action, ActionKind
from lictor.engine import EvaluationResult, PolicyEngine
from lictor.errors import ApprovalError
from lictor.outcomes import Answer, Outcome
from lictor.project import Project, ProjectEvaluation

_log = logging.getLogger("lictor")
_T = TypeVar("_T")

# Calls whose decision is kept for a replay. An interrupted call is answered long before so many others were made.
_KEPT = 4096


@dataclass(frozen=True)
class Call:
    """A tool call that was judged. It may run when there is no refusal."""

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
    """Judges the tool calls of one agent. ``session_id`` puts all of them into one session; without it the session is
    the framework's own where it has one, else one for the agent. ``on_ask`` answers questions where the framework has no
    way to ask a person; only ``True`` is a yes."""

    def __init__(
        self,
        engine: PolicyEngine | Project,
        *,
        session_id: str | None = None,
        agent: str = "",
        kinds: Mapping[str, ActionKind | str] | None = None,
        on_ask: Callable[[Call], bool] | None = None,
    ) -> None:
        self._on_ask = on_ask
        self._engine = engine
        # An engine answers what it asked, and so does a project.
        self._resolve: Any = engine.resolve
        self._agent = agent
        self._kinds = kinds
        self._fixed = session_id
        self._own = getattr(engine, "default_session", None) or uuid.uuid4().hex
        # Frameworks enter a call anew after an interrupt: it keeps the decision that it got.
        self._judged: OrderedDict[tuple[str, str, str], Call] = OrderedDict()
        self._running: dict[object, Call] = {}
        self._asked: OrderedDict[str, Call] = OrderedDict()
        self._lock = threading.Lock()
        # Tools that no hook of the framework reaches, as far as they were seen.
        self.ungoverned: list[str] = []

    def session(self, framework: str | None = None) -> str:
        """The session of a call, given the one that the framework knows."""
        return self._fixed or framework or self._own

    def before(self, name: str, args: Any, call_id: str | None, session: str | None = None) -> Call:
        """Judges a call. Never raises for a fault of the policy or of Lictor: that is a refusal."""
        try:
            action = self._action(name, args, call_id, session)
            known = self._recall(action)
            return known if known is not None else self._keep(_call(action, self._engine.evaluate(action)))
        except Exception as error:
            return _not_judged(error)

    async def abefore(self, name: str, args: Any, call_id: str | None, session: str | None = None) -> Call:
        """As :meth:`before`, without holding up the event loop where judging may take long. Guards may be coroutines."""
        if getattr(self._engine, "is_quick", False):
            return self.before(name, args, call_id, session)
        try:
            action = self._action(name, args, call_id, session)
            known = await asyncio.to_thread(self._recall, action)
            return known if known is not None else self._keep(_call(action, await self._engine.aevaluate(action)))
        except Exception as error:
            return _not_judged(error)

    def answered(self, call: Call, approved: bool, reason: str | None = None) -> Call:
        """A person's word, recorded. Only an explicit yes counts."""
        if call.action is None or call.result is None or not call.needs_person:
            return call
        try:
            return self._keep(_call(call.action, self._settled(call.action, call.result, approved is True, reason)))
        except Exception as error:
            _log.exception("an answer could not be recorded")
            return refused(f"the answer could not be recorded ({type(error).__name__})")

    def _settled(self, action: Action, result: Any, approved: bool, reason: str | None) -> Any:
        try:
            return self._resolve(action, result, [Answer(approved, reason)] * len(result.questions))
        except ApprovalError:
            # The question is settled: by an answer to another call alike, or elsewhere. This call is judged for itself.
            again = self._engine.evaluate(action)
            if again.decision != "ask":
                return again
            return self._resolve(action, again, [Answer(approved, reason)] * len(again.questions))

    def waits(self, call_id: str | None, call: Call) -> None:
        """Keeps a call whose question the framework puts to a person."""
        if call_id is not None:
            with self._lock:
                self._asked[call_id] = call
                while len(self._asked) > _KEPT:
                    self._asked.popitem(last=False)

    def waited(self, call_id: str | None) -> Call | None:
        """The call of that question, which is answered now."""
        with self._lock:
            return None if call_id is None else self._asked.pop(call_id, None)

    def denied(self, call_id: str | None, reason: str | None = None) -> None:
        """A person's no, where the framework does not come back to the call."""
        call = self.waited(call_id)
        if call is not None:
            self.answered(call, False, reason)

    def asked(self, call: Call) -> Call:
        """Asks ``on_ask``, for frameworks that cannot wait for a person. Without it the call stays refused."""
        if not call.needs_person or self._on_ask is None:
            return call
        try:
            return self.answered(call, self._on_ask(call) is True)
        except Exception:
            _log.exception("nobody could be asked")
            return self.answered(call, False)

    def after(self, call: Call, outcome: Outcome | bool | BaseException) -> str:
        """Records what came of a call. Gives what the model is told in addition."""
        if call.action is None:
            return ""
        try:
            return self._engine.post_action(call.action, outcome).feedback_text
        except Exception:
            _log.exception("an outcome could not be recorded")
            return ""

    def run(self, call: Call, tool: Callable[[], _T], succeeded: Callable[[_T], bool] = lambda _: True) -> tuple[_T, str]:
        """Runs a call that passed and records what came of it. Gives the result and the feedback."""
        try:
            result = tool()
        except BaseException as error:
            self.after(call, error)
            raise
        return result, self.after(call, succeeded(result))

    async def arun(
        self, call: Call, tool: Callable[[], Awaitable[_T]], succeeded: Callable[[_T], bool] = lambda _: True
    ) -> tuple[_T, str]:
        try:
            result = await tool()
        except BaseException as error:
            self.after(call, error)
            raise
        return result, self.after(call, succeeded(result))

    def start(self, key: object, call: Call) -> None:
        """Keeps a call that runs until the framework tells what came of it."""
        with self._lock:
            self._running[key] = call

    def running(self, key: object) -> Call | None:
        """The call that runs under that key."""
        with self._lock:
            return self._running.get(key)

    def finish(self, key: object, outcome: Outcome | bool | BaseException) -> str:
        """What came of a call that runs. Gives feedback, or nothing for a call that was not started here."""
        with self._lock:
            call = self._running.pop(key, None)
        return "" if call is None else self.after(call, outcome)

    def stop(self, output: str | None = None, session: str | None = None) -> str | None:
        """What still has to be done before the agent may stop, or nothing. A gate that cannot be asked does not hold an
        agent for ever: it is logged, and the agent stops."""
        try:
            checked = self._engine.check_stop(self.session(session), output=output, agent=self._agent)
        except Exception:
            _log.exception("the stop gate could not be asked")
            return None
        return checked.message if checked.blocks else None

    def lists(self, names: Iterable[str]) -> None:
        """Says once which tools no hook of the framework reaches, before the model can call them."""
        with self._lock:
            new = [name for name in dict.fromkeys(names) if name not in self.ungoverned]
            self.ungoverned.extend(new)
        if new:
            _log.warning("these tools run elsewhere and are not governed: %s", ", ".join(new))

    def _action(self, name: str, args: Any, call_id: str | None, session: str | None) -> Action:
        return Action.from_tool_call(
            name, args, kinds=self._kinds, tool_use_id=call_id, session_id=self.session(session), agent=self._agent
        )

    def _recall(self, action: Action) -> Call | None:
        key = _key(action)
        if key is None:
            return None
        with self._lock:
            known = self._judged.get(key)
        if known is None and isinstance(self._engine, (PolicyEngine, Project)):
            # An interrupted call may come back in another process.
            recorded = self._engine.judged(action)
            return None if recorded is None else self._keep(_call(action, recorded))
        return known

    def _keep(self, call: Call) -> Call:
        key = None if call.action is None else _key(call.action)
        if key is not None:
            with self._lock:
                self._judged[key] = call
                while len(self._judged) > _KEPT:
                    self._judged.popitem(last=False)
        return call


def refused(reason: str, fix: str = "") -> Call:
    """A call that does not run, in the words that the model reads."""
    return Call(None, None, _words(reason, fix))


def with_feedback(result: Any, feedback: str) -> Any:
    """A tool's result with what the model is told in addition, where the result is text."""
    return f"{result}\n\n{feedback}" if feedback and isinstance(result, str) else result


def _not_judged(error: Exception) -> Call:
    _log.exception("a tool call could not be judged")
    return refused(f"this could not be judged ({type(error).__name__})")


def _call(action: Action, result: EvaluationResult | ProjectEvaluation) -> Call:
    return Call(action, result, None if result.passed else _words(result.reason_for_agent, result.fix_for_agent))


def _words(reason: str, fix: str) -> str:
    return f"Blocked by Lictor: {reason}" + (f"\nHow to go on: {fix}" if fix else "")


def _key(action: Action) -> tuple[str, str, str] | None:
    if action.tool_use_id is None:
        return None
    return (action.session_id or "", action.tool_use_id, action.digest)
