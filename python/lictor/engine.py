"""The engine: the graph judges, the store remembers, tracers are told."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from lictor._async import asynchronous, is_async, served_by
from lictor._faults import failed
from lictor._governing import Governing
from lictor._lictor import RawAction, RawEngine, RawEvaluation
from lictor._forks import Reopening
from lictor._records import dataclass
from lictor._given import flag, function, having, number, path, several, texts, told, word
from lictor.actions import Action, not_an_action
from lictor.context import GovernanceContext, Notes, SessionState
from lictor.errors import ApprovalError, Blocked, GraphError, LictorError, NeedsApproval, PolicyError
from lictor.nodes import All, Plan
from lictor.outcomes import Answer, Outcome, StopResult
from lictor.stores import InMemorySessionStore, SessionStore
from lictor.tracers import TraceEntry, Tracer
from lictor.verdicts import GivenVerdict

if TYPE_CHECKING:
    from lictor.approvals import Approvals
    from lictor.completion import TaskCompletionChecker
    from lictor.feedback import FeedbackProvider, FeedbackProviderConfig, NativeProvider
    from lictor.policies import PolicySet
    from lictor.project import Project
    from lictor.testing import FixedClock
    from lictor.tools import ToolPolicy

_Answers = Sequence[bool | Answer] | bool

# How many calls the history of a session shows.
_HISTORY = 50


@dataclass(frozen=True)
class Question:
    """One point that a person has to answer."""

    guard: str
    reason: str
    fix: str
    rule: str | None
    violation: dict[str, Any] | None


@dataclass(frozen=True)
class PostResult:
    """How an outcome stands to what was decided, and what the agent is told."""

    standing: str
    feedback_text: str


class EvaluationResult:
    """The answer for one action. True when the action may go ahead. Another process gets it as a
    :class:`~lictor.ProjectEvaluation`, which is the record of it."""

    __slots__ = ("_raw", "action")

    def __init__(self, raw: RawEvaluation, action: Action) -> None:
        self._raw = raw
        self.action = action

    @property
    def passed(self) -> bool:
        return self._raw.passed

    @property
    def decision(self) -> str:
        """``pass``, ``warn``, ``ask`` or ``block``."""
        return self._raw.decision

    @property
    def reason(self) -> str:
        return self._raw.reason

    @property
    def fix(self) -> str:
        return self._raw.fix

    @property
    def reason_for_agent(self) -> str:
        """The reason without what only an operator should read."""
        return self._raw.reason_for_agent

    @property
    def fix_for_agent(self) -> str:
        return self._raw.fix_for_agent

    @property
    def risk_score(self) -> float:
        return self._raw.risk_score

    @property
    def escalated(self) -> bool:
        return self._raw.escalated

    @property
    def id(self) -> int | None:
        """The number of the record."""
        return self._raw.id

    @property
    def tags(self) -> list[str]:
        return self._raw.tags

    @property
    def annotations(self) -> dict[str, Any]:
        """What guards noted, by ``guard.key``; the key alone finds it too."""
        return Notes(self._raw.annotations)

    @property
    def verdicts(self) -> list[GivenVerdict]:
        return [GivenVerdict.of(given) for given in self._raw.verdicts]

    @property
    def violations(self) -> list[dict[str, Any]]:
        return self._raw.violations

    @property
    def trace(self) -> list[TraceEntry]:
        return [TraceEntry.of(entry) for entry in self._raw.trace]

    @property
    def session(self) -> SessionState:
        return SessionState(self._raw.session)

    @property
    def questions(self) -> list[Question]:
        return [Question(**question) for question in self._raw.questions]

    @property
    def faults(self) -> list[str]:
        """What guards could not answer, for the operator."""
        return [given.reason for given in self.verdicts if given.status == "error"]

    @property
    def context(self) -> EvaluationResult:
        """The originals' way to ``session``, ``verdicts``, ``annotations``, ``risk_score`` and ``trace``."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """As ``lictor eval --json`` prints it."""
        return self._raw.to_dict()

    def __bool__(self) -> bool:
        return self.passed

    def __copy__(self) -> EvaluationResult:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> EvaluationResult:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from lictor.project import ProjectEvaluation

        return (ProjectEvaluation, (self.to_dict(), self.action))

    def __repr__(self) -> str:
        return f"EvaluationResult({self.decision!r}, {self.reason!r})"


class PolicyEngine(Governing[EvaluationResult]):
    """Judges actions by a policy graph and records every judgement. May be shared between threads.

    ``on_ask`` is called with the result when a person has to decide; it returns True, False, or one answer for each
    of ``result.questions``. Without it an ask does not pass. An action without a session is judged in the engine's
    own; ``default_session=None`` switches that off. ``policies`` are tool policies that have to be met as well;
    ``feedback`` speaks to the agent after a call, and ``completion`` has a word before it may stop. ``deadline`` is how many
    seconds one evaluation may take before it is a block; ``redact`` are patterns of text that is not written down;
    ``observe_only`` judges and records, and stops nothing.
    """

    def __init__(
        self,
        root: Any,
        *,
        session_store: SessionStore | None = None,
        tracer: Tracer | Sequence[Tracer] | None = None,
        default_session: str | None = "auto",
        on_ask: Callable[[EvaluationResult], _Answers] | None = None,
        policies: Sequence[ToolPolicy] = (),
        feedback: Sequence[FeedbackProvider | FeedbackProviderConfig | NativeProvider] = (),
        completion: TaskCompletionChecker | Sequence[TaskCompletionChecker] | None = None,
        root_dir: str | os.PathLike[str] | None = None,
        facts: Literal["project", "none"] = "project",
        deadline: float | None = None,
        redact: Sequence[str] = (),
        observe_only: bool = False,
        clock: FixedClock | None = None,
    ) -> None:
        directory = os.path.abspath(path("root_dir", root_dir) if root_dir is not None else os.getcwd())
        required = several("policies", policies)
        plan = Plan(All(root, *required) if required else root, directory)
        providers, checkers = _providers(feedback), _checkers(completion, directory)
        store = InMemorySessionStore() if session_store is None else session_store
        if not hasattr(store, "path") or isinstance(store, type):
            raise PolicyError(f"`{store!r}` is not a store", "give `SQLiteSessionStore(path)` or `InMemorySessionStore()`")
        self._quick = store.path is None
        self._on_ask = None if on_ask is None else function("on_ask", on_ask)
        self._tracers: tuple[Tracer, ...] = _tracers(tracer)
        named = None if default_session is None else word("default_session", default_session)
        self._session = os.urandom(16).hex() if named == "auto" else named
        if facts not in ("project", "none"):
            raise PolicyError(f"`{facts}` says nothing about facts", "give `project` or `none`")
        project = directory if facts == "project" else None
        if deadline is not None:
            number("deadline", deadline, above=True)
        if clock is not None and not hasattr(clock, "raw"):
            raise PolicyError(f"`{clock!r}` is not a clock", "give a `lictor.testing.FixedClock`")
        hidden = texts("redact", redact)
        keep = store.keep if isinstance(store, InMemorySessionStore) else 0
        context = functools.partial(GovernanceContext, history=_history_of(weakref.ref(self)))

        def build() -> RawEngine:
            return RawEngine(
                plan.root, plan.observers, context, store.path, keep, project, plan.fingerprint, providers,
                checkers, directory, deadline, hidden, None if clock is None else clock.raw,
            )

        try:
            if store.path is None:
                raw = build()
                self._reopening = Reopening(lambda: raw)
            else:
                self._reopening = Reopening(build)
        except LictorError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise GraphError(str(error), "correct the guard's settings") from error
        self._observes = flag("observe_only", observe_only)
        # The bridge knows guards by their identity, so they live as long as the engine.
        self._plan = plan

    @classmethod
    def from_project(cls, directory: str | os.PathLike[str] = ".") -> Project:
        """The project around a directory: the policy files and the store that its hooks use."""
        from lictor.project import Project

        return Project.open(directory)

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str] = "governance.yaml", *, session_store: SessionStore | None = None
    ) -> Project:
        """A policy file. The ``governance.yaml`` of a project has the project's store, which hooks write into too; another
        file is judged by itself, in memory or in the store that is given."""
        from lictor.project import Project

        return Project.from_file(path, session_store=session_store)

    @property
    def _raw(self) -> RawEngine:
        return self._reopening.get()

    def evaluate(self, action: Action, *, dry: bool = False, observe: bool = False) -> EvaluationResult:
        """Judges one action and records the judgement. Whatever goes wrong on the way is a block."""
        if self._plan.waits is not None:
            raise asynchronous(self._plan.waits)
        return self._evaluate(action, dry, observe)

    async def aevaluate(self, action: Action, *, dry: bool = False, observe: bool = False) -> EvaluationResult:
        """As :meth:`evaluate`; on a thread where a file is written or something has to be awaited. Guards, conditions and
        callbacks may be coroutines. What is cancelled is judged and recorded all the same."""
        if self._quick and self._plan.waits is None:
            return self._evaluate(action, dry, observe)
        import asyncio

        with served_by(action, asyncio.get_running_loop()):
            return await asyncio.to_thread(self._evaluate, action, dry, observe)

    def _evaluate(self, action: Action, dry: bool, observe: bool) -> EvaluationResult:
        raw = self._raw.evaluate(self._judged_as(action), action, dry, observe or self._observes)
        result = EvaluationResult(raw, action)
        if self._tracers:
            self._tell(action, result)
        return result

    @told
    def judged(self, action: Action) -> EvaluationResult | None:
        """What was decided about this very call before: the same session, ``tool_use_id`` and action."""
        known = self._raw.judged(self._judged_as(action))
        return None if known is None else EvaluationResult(known, action)

    def check(self, action: Action) -> EvaluationResult:
        """As :meth:`evaluate` with ``on_ask`` heard; raises :class:`Blocked` when the action may not go ahead."""
        if self._on_ask is not None and is_async(self._on_ask):
            raise asynchronous("on_ask")
        result = self.evaluate(action)
        if result.decision == "ask" and self._on_ask is not None:
            result = self.resolve(action, result, self._on_ask(result))
        return _permitted(result)

    async def acheck(self, action: Action) -> EvaluationResult:
        """As :meth:`check`; guards and ``on_ask`` may be coroutines."""
        result = await self.aevaluate(action)
        if result.decision == "ask" and self._on_ask is not None:
            given: Any = self._on_ask(result)
            result = await self.aresolve(action, result, await given if is_async(self._on_ask) else given)
        return _permitted(result)

    @told
    def resolve(self, action: Action, result: EvaluationResult, answers: _Answers) -> EvaluationResult:
        """A person's answers: one for each question, or one boolean for all. A wrong number of them blocks."""
        if action != getattr(result, "action", None):
            raise ApprovalError("the question was about another action", "give the action that was evaluated")
        if isinstance(answers, bool):
            given: list[Any] = [answers] * len(result.questions)
        elif not isinstance(answers, Sequence):
            raise PolicyError(f"`{answers!r}` is no answer", "answer with True or False, or with a list of them")
        else:
            given = [
                {"approved": answer.approved, "reason": answer.reason} if isinstance(answer, Answer) else answer
                for answer in answers
            ]
        try:
            raw = self._raw.resolve(self._judged_as(action), result._raw, given)
        except ValueError as error:
            raise PolicyError(str(error), "answer each question with True or False") from error
        return EvaluationResult(raw, action)

    async def aresolve(self, action: Action, result: EvaluationResult, answers: _Answers) -> EvaluationResult:
        """As :meth:`resolve`; on a thread where a file is written."""
        if self._quick:
            return self.resolve(action, result, answers)
        import asyncio

        return await asyncio.to_thread(self.resolve, action, result, answers)

    @told
    def post_action(
        self, action: Action, outcome: Outcome | bool | BaseException = True, *, advise: bool = True
    ) -> PostResult:
        """Records what came of an action."""
        happened = Outcome.of(outcome)
        standing, told = self._raw.post_action(self._judged_as(action), action, happened.raw(), advise, self._plan.listens)
        self._tell_outcome(action, happened, standing)
        return PostResult(standing, told)

    async def apost_action(
        self, action: Action, outcome: Outcome | bool | BaseException = True, *, advise: bool = True
    ) -> PostResult:
        """As :meth:`post_action`; on a thread where a file is written."""
        if self._quick:
            return self.post_action(action, outcome, advise=advise)
        import asyncio

        return await asyncio.to_thread(self.post_action, action, outcome, advise=advise)

    @told
    def check_stop(
        self,
        session_id: str | None = None,
        *,
        agent: str = "",
        output: str | None = None,
        reason: str | None = None,
        subagent: bool = False,
        aborted: bool = False,
    ) -> StopResult:
        """Whether an agent may stop now. The gate counts its rounds, and lets go when they are over."""
        id = session_id or self._session or ""
        outcome, reasons, number = self._raw.check_stop(id, agent, output, reason, subagent, aborted)
        return StopResult(outcome, tuple(reasons), number)

    async def acheck_stop(self, session_id: str | None = None, **known: Any) -> StopResult:
        """As :meth:`check_stop`, on a thread: checks may run programs."""
        import asyncio

        return await asyncio.to_thread(self.check_stop, session_id, **known)

    @told
    def prompted(
        self, session_id: str | None = None, text: str = "", agent: str = "", *, name: str | None = None
    ) -> None:
        """A person has said something to the agent: the rounds of the stop gate begin anew."""
        self._raw.prompted(session_id or self._session or "", agent, text, name)

    @told
    def session(self, session_id: str | None = None, agent: str = "") -> SessionState:
        """The counters of a session; of the engine's own, if none is named."""
        id = session_id or self._session or ""
        return SessionState(self._raw.session(id, agent), lambda: self._raw.recent(id, agent, _HISTORY))

    @told
    def feedback_text(self, session_id: str | None = None, agent: str = "") -> str:
        """What the agent is told now, after :meth:`post_action` with ``advise=False``."""
        return self._raw.advise(session_id or self._session or "", agent)

    @told
    def begin(self, session_id: str, agent: str = "") -> SessionState:
        """Starts a session. Nothing happens when it has begun already."""
        return SessionState(self._raw.begin(session_id, agent))

    @told
    def delegate(
        self, parent: str, child: str, limit: Mapping[str, Any] | None = None, agent: str = ""
    ) -> SessionState:
        """Starts the session of a subagent: its scope is its parent's, narrowed by ``limit`` (``kinds``, ``tools``, ``dirs``,
        ``hosts``, ``read_only``), and what it does counts for its parent too."""
        return SessionState(self._raw.delegate(parent, child, agent, dict(limit or {})))

    @told
    def fork(self, session_id: str, to: str, agent: str = "") -> SessionState:
        """Starts a session that goes on from where another is."""
        return SessionState(self._raw.fork(session_id, to, agent))

    @told
    def continued(
        self, session_id: str, how: Literal["resume", "compact", "clear"] = "resume", agent: str = ""
    ) -> SessionState:
        """The session was taken up again. Nothing is forgotten."""
        return SessionState(self._raw.continued(session_id, agent, how))

    @told
    def reset(self, session_id: str | None = None, agent: str = "") -> SessionState:
        """Forgets what tool policies, feedback and the stop gate know of a session. Counters and budgets go on."""
        return SessionState(self._raw.reset(session_id or self._session or "", agent))

    @told
    def end(self, session_id: str | None = None, agent: str = "") -> SessionState:
        """The session is over: its open questions are withdrawn."""
        return SessionState(self._raw.end(session_id or self._session or "", agent))

    @property
    def default_session(self) -> str | None:
        """The session of actions that name none."""
        return self._session

    @property
    def is_quick(self) -> bool:
        """Whether an evaluation waits for nothing outside the process: no file is written."""
        return self._quick and self._plan.waits is None

    @property
    def policy_sets(self) -> list[PolicySet]:
        """The policies of the graph."""
        return list(self._plan.policy_sets)

    @property
    def approvals(self) -> Approvals:
        """Questions that wait for a person."""
        from lictor.approvals import Approvals

        return Approvals(self._raw)

    @property
    def graph(self) -> dict[str, Any]:
        """The graph as data."""
        return self._raw.outline

    @property
    def policy_digest(self) -> str:
        """What grants are bound to: changes with the graph and with the code of its guards."""
        return self._raw.policy_digest

    def _judged_as(self, action: Action) -> RawAction:
        """The action in its own session, or else in the engine's."""
        if not isinstance(action, Action):
            raise not_an_action(action)
        if self._session is None or action._options["session_id"] is not None:
            return action._raw
        return action._in_session(self._session)

    def _tell(self, action: Action, result: EvaluationResult) -> None:
        for tracer in self._tracers:
            try:
                tracer.trace(action, result)
            except Exception:
                failed("a tracer failed")

    def _tell_outcome(self, action: Action, outcome: Outcome, standing: str) -> None:
        for tracer in self._tracers:
            happened = getattr(tracer, "happened", None)
            if happened is None:
                continue
            try:
                happened(action, outcome, standing)
            except Exception:
                failed("a tracer failed")


def _history_of(engine: weakref.ref[PolicyEngine]) -> Callable[[Action], list[dict[str, Any]]]:
    """Reads the newest calls of an action's session. Guards outlive no engine, and the engine holds its guards."""

    def history(action: Action) -> list[dict[str, Any]]:
        known = engine()
        session = None if known is None else action.session_id or known.default_session
        return [] if known is None or session is None else known._raw.recent(session, action.agent, _HISTORY)

    return history


def _permitted(result: EvaluationResult) -> EvaluationResult:
    if not result.passed:
        raise NeedsApproval(result) if result.decision == "ask" else Blocked(result)
    return result


def _providers(given: Sequence[Any]) -> list[tuple[Any, ...]]:
    if isinstance(given, (list, tuple)) and not given:
        return []
    from lictor.feedback import configured

    return configured(given)


def _checkers(given: Any, root: str) -> list[tuple[str, Callable[[dict[str, Any]], tuple[bool, str | None]]]]:
    if given is None:
        return []
    from lictor.completion import configured

    return configured(given, root)


def _tracers(tracer: Tracer | Sequence[Tracer] | None) -> tuple[Tracer, ...]:
    if tracer is None:
        return ()
    given = [tracer] if hasattr(tracer, "trace") else several("tracer", tracer)
    return tuple(having("tracer", one, "trace") for one in given)
