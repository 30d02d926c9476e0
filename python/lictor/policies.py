"""Policies on ``verb → object``, with callbacks and confirmations."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeVar

from lictor._async import asynchronous, is_async, served_by, waiting
from lictor._faults import failed
from lictor._lictor import RawPolicies
from lictor._given import path, several, texts, word
from lictor.actions import Action, ActionKind
from lictor.engine import EvaluationResult, PolicyEngine
from lictor.errors import Blocked, LictorError, NeedsApproval, PolicyError
from lictor.outcomes import Answer

_T = TypeVar("_T")
Cardinality = Literal["single", "multiple", "unknown"]
Concepts = Sequence[tuple[str, str]]


class PolicyAction(str, Enum):
    """What is left when everybody was asked."""

    PASS = "pass"
    WARN = "warn"
    BLOCK = "block"


@dataclass(frozen=True)
class PolicyCallbackResult:
    """What a callback found. ``True`` and ``False`` are enough where there is nothing to say. ``decision`` is ``warn``, ``ask`` or
    ``block`` where that is not what ``passed`` means; where a person has to confirm anyway, the stricter counts."""

    passed: bool
    message: str | None = None
    decision: Literal["pass", "warn", "ask", "block"] | None = None
    fix: str | None = None
    evidence: Any = None
    # What guards further right see of it.
    risk: float | None = None
    annotations: Mapping[str, Any] | None = None
    tags: Sequence[str] | None = None


@dataclass(frozen=True)
class PolicyCallContext:
    """What a callback is told. ``deed`` is what triggered the policy; ``call_args`` and ``call_kwargs`` are those of a
    function that :func:`policy_guard` governs."""

    action: Action
    facts: Mapping[str, Any]
    session: Mapping[str, Any]
    risk_score: float
    policy: Policy
    deed: Mapping[str, Any]

    @property
    def tool_name(self) -> str:
        return self.action.tool

    @property
    def call_args(self) -> tuple[Any, ...]:
        args: Any = self.action.metadata.get("call_args", ())
        return tuple(args)

    @property
    def call_kwargs(self) -> Mapping[str, Any]:
        kwargs: Any = self.action.metadata.get("call_kwargs", {})
        return dict(kwargs)


@dataclass(frozen=True)
class Policy:
    """A rule on what an action would do. With neither confirmation, callback nor effect it could decide nothing.
    ``callback`` may be a function, or the dotted path of one. ``effect`` is ``inform`` or ``block``."""

    name: str
    verb: str = "*"
    object: str = "*"
    requires_confirmation: bool = True
    trigger_cardinality: Cardinality | None = None
    callback: Callable[[PolicyCallContext], Any] | str | None = None
    confirmation_message: str | None = None
    effect: Literal["inform", "block"] | None = None
    fix: str | None = None
    paths: Sequence[str] = ()
    hosts: Sequence[str] = ()
    tools: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


# What is said of a deed that the catalogue does not have.
_UNGROUNDED = Policy("ungrounded", requires_confirmation=False, effect="block")


@dataclass(frozen=True)
class PolicyViolation:
    """A policy that was triggered."""

    policy: Policy
    message: str
    requires_confirmation: bool
    verb: str
    object: str
    cardinality: str
    callback_result: PolicyCallbackResult | None = None
    fault: str | None = None
    answer: Answer | None = None

    def __str__(self) -> str:
        return f"{self.policy.name}: {self.message}"


OnPolicy = Callable[[list[PolicyViolation]], "Sequence[bool | Answer] | bool"]


@dataclass(frozen=True)
class PolicyEvaluation:
    """What policies say before anybody was asked: ``pass``, ``warn``, ``ask`` or ``block``."""

    decision: str
    violations: list[PolicyViolation]


@dataclass(frozen=True)
class PolicyResult:
    """What is left when everybody was asked. True unless it is a block."""

    action: PolicyAction
    reason: str | None
    violations: list[PolicyViolation]

    def __bool__(self) -> bool:
        return self.action is not PolicyAction.BLOCK

    def __str__(self) -> str:
        said = "; ".join(map(str, self.violations))
        return f"{self.action.value}: {said}" if said else self.action.value


class PolicySet:
    """Policies as one guard of a graph, or judged by themselves.

    ``verbs`` and ``objects`` are words of your own beside those that Lictor knows. What is in neither is ungrounded: a block,
    or a question with ``ungrounded="ask"``."""

    def __init__(
        self,
        policies: Sequence[Policy],
        *,
        verbs: Sequence[str] = (),
        objects: Sequence[str] = (),
        ungrounded: Literal["block", "ask"] = "block",
        name: str = "policies",
        root_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        self.name = word("name", name)
        self.policies = tuple(several("policies", policies))
        for policy in self.policies:
            if not isinstance(policy, Policy):
                raise PolicyError(f"`{policy!r}` is not a policy", "give objects of `Policy`")
        self._words = (texts("verbs", verbs), texts("objects", objects), ungrounded)
        # By the place in the list: two policies of one name stay apart.
        self.callbacks = {
            f"{index} {policy.name}": _resolved(policy)
            for index, policy in enumerate(self.policies)
            if policy.callback is not None
        }
        self._root = os.path.abspath(path("root_dir", root_dir) if root_dir is not None else os.getcwd())
        try:
            self._raw = RawPolicies(self.native_guard(), self._root)
        except LictorError:
            raise
        except (TypeError, ValueError) as error:
            raise PolicyError(f"a policy cannot be used: {error}", "correct what stands there") from error

    def rules(self) -> list[dict[str, Any]]:
        """The policies as data."""
        return [
            {
                "name": policy.name,
                "verb": policy.verb,
                "object": policy.object,
                "cardinality": policy.trigger_cardinality,
                "requires_confirmation": policy.requires_confirmation,
                "callback": f"{index} {policy.name}" if policy.callback is not None else None,
                "effect": policy.effect,
                "message": policy.confirmation_message,
                "fix": policy.fix,
                "paths": texts("paths", policy.paths),
                "hosts": texts("hosts", policy.hosts),
                "tools": texts("tools", policy.tools),
            }
            for index, policy in enumerate(self.policies)
        ]

    def native_guard(self) -> tuple[Any, ...]:
        """What the bridge takes."""
        called = {
            name: _called(self.policies[int(name.partition(" ")[0])], callback)
            for name, callback in self.callbacks.items()
        }
        return ("policies", self.name, self.rules(), called, *self._words)

    def policies_for(self, tool: str) -> list[Policy]:
        """The policies that may have a word about a tool."""
        return [one for one in self.policies if not one.tools or any(fnmatchcase(tool, glob) for glob in one.tools)]

    def evaluate(
        self,
        what: Concepts | Action,
        cardinality: Cardinality | None = None,
        call_context: Action | None = None,
    ) -> PolicyEvaluation:
        """What the policies say about concepts, ``[("delete", "file")]``, or about what an action would do. Never asks.
        ``call_context`` is the action that concepts belong to, for callbacks and for policies on tools."""
        concepts, action = _subject(what, call_context)
        self._refuse_async(())
        with _told():
            found = self._raw.evaluate(concepts, cardinality, action._raw, action)
        return PolicyEvaluation(found["action"], self._violations(found["violations"]))

    def check_policy(
        self,
        what: Concepts | Action,
        cardinality: Cardinality | None = None,
        call_context: Action | None = None,
        on_policy: OnPolicy | None = None,
    ) -> PolicyResult:
        """Collects all violations and settles them. ``on_policy`` gets all of them once, and only when a yes can make a
        difference; it answers each, or all with one boolean. Whatever else it returns or raises blocks, and so does a
        confirmation without anybody to ask."""
        self._refuse_async((on_policy,))
        return self._checked(what, cardinality, call_context, on_policy)

    async def acheck_policy(
        self,
        what: Concepts | Action,
        cardinality: Cardinality | None = None,
        call_context: Action | None = None,
        on_policy: Callable[[list[PolicyViolation]], Any] | None = None,
    ) -> PolicyResult:
        """As :meth:`check_policy`, on a thread; ``on_policy`` and callbacks may be coroutines."""
        import asyncio

        concepts, action = _subject(what, call_context)
        with served_by(action, asyncio.get_running_loop()):
            return await asyncio.to_thread(
                self._checked, action if concepts is None else concepts, cardinality, action, on_policy
            )

    def violations(self, result: EvaluationResult) -> list[PolicyViolation]:
        """The violations of an engine's evaluation, each with the policy that it is of."""
        return self._violations(result.violations)

    def _checked(
        self,
        what: Concepts | Action,
        cardinality: Cardinality | None,
        call_context: Action | None,
        on_policy: Callable[[list[PolicyViolation]], Any] | None,
    ) -> PolicyResult:
        concepts, action = _subject(what, call_context)

        def ask(found: list[dict[str, Any]]) -> list[Any]:
            assert on_policy is not None
            handler = on_policy
            violations = self._violations(found)
            if is_async(handler):
                given = waiting(lambda _: handler(violations), "on_policy")(action)
            else:
                given = handler(violations)
            return _answers(given, len(violations))

        asked = None if on_policy is None else ask
        with _told():
            found = self._raw.check(concepts, cardinality, action._raw, action, asked)
        violations = self._violations(found["violations"])
        return PolicyResult(PolicyAction(found["action"]), found.get("reason"), violations)

    def _refuse_async(self, others: Sequence[Any]) -> None:
        for called in (*self.callbacks.values(), *others):
            if called is not None and is_async(called):
                raise asynchronous(getattr(called, "__name__", "callback"))

    def _violations(self, found: Sequence[Mapping[str, Any]]) -> list[PolicyViolation]:
        return [self._violation(one) for one in found if one.get("index") is None or self._is_own(one)]

    def _is_own(self, found: Mapping[str, Any]) -> bool:
        index = found["index"]
        return bool(index < len(self.policies) and self.policies[index].name == found["policy"])

    def _violation(self, found: Mapping[str, Any]) -> PolicyViolation:
        index, said, answer = found.get("index"), found.get("callback_result"), found.get("answer")
        return PolicyViolation(
            policy=_UNGROUNDED if index is None else self.policies[index],
            message=found["message"],
            requires_confirmation=found["requires_confirmation"],
            verb=found["verb"],
            object=found["object"],
            cardinality=found["cardinality"],
            callback_result=None if said is None else _said(said),
            fault=found.get("fault"),
            answer=_answer(answer),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        verbs, objects, ungrounded = self._words
        return (_set_of, (self.policies, verbs, objects, ungrounded, self.name, self._root))

    def __repr__(self) -> str:
        return f"PolicySet({list(self.policies)!r})"


def _set_of(policies: Any, verbs: Any, objects: Any, ungrounded: Any, name: str, root: str) -> PolicySet:
    return PolicySet(policies, verbs=verbs, objects=objects, ungrounded=ungrounded, name=name, root_dir=root)


def policy_guard(
    judge: PolicySet | PolicyEngine,
    concepts: Concepts | Callable[..., Concepts | Action],
    cardinality: Cardinality | Callable[..., Cardinality] | None = None,
    on_policy: OnPolicy | None = None,
    on_trace: Callable[[PolicyResult | EvaluationResult], None] | None = None,
) -> Callable[[Callable[..., _T]], Callable[..., _T | PolicyResult]]:
    """A decorator that judges each call by its concepts, or by the action that a function makes of its arguments.

    Judged by a :class:`PolicySet`, a call that is blocked gives the :class:`PolicyResult` in place of its value and nothing is
    recorded. Judged by an engine, which needs an action, it is recorded with its outcome, and a block raises."""

    if isinstance(judge, PolicyEngine):
        if cardinality is not None:
            raise PolicyError("an engine works out itself how many things a call touches", "leave `cardinality` out")
    elif not isinstance(judge, PolicySet):
        raise PolicyError(f"`{judge!r}` judges nothing", "give a `PolicySet` or a `PolicyEngine`")

    def subject(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Concepts | Action:
        return concepts(*args, **kwargs) if callable(concepts) else concepts

    def called(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Action]:
        what = subject(args, kwargs)
        many = cardinality(*args, **kwargs) if callable(cardinality) else cardinality
        seen = {"call_args": args, "call_kwargs": kwargs}
        if isinstance(what, Action):
            what = call = what.replace(metadata={**what.metadata, **seen})
        else:
            call = Action(ActionKind.TOOL, {}, tool=name, metadata=seen)
        return what, many, call

    def traced(result: Any) -> Any:
        if on_trace is not None:
            on_trace(result)
        return result

    def decorate(function: Callable[..., _T]) -> Callable[..., _T | PolicyResult]:
        if is_async(function):

            @functools.wraps(function)
            async def arun(*args: Any, **kwargs: Any) -> Any:
                run: Any = function
                if isinstance(judge, PolicyEngine):
                    action = _action(subject(args, kwargs))
                    _permit(traced(await _aevaluated(judge, action, on_policy)))
                    with _recording(judge, action):
                        return await run(*args, **kwargs)
                result = traced(await judge.acheck_policy(*called(function.__name__, args, kwargs), on_policy))
                return await run(*args, **kwargs) if result else result

            return arun  # type: ignore[return-value]

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> _T | PolicyResult:
            if isinstance(judge, PolicyEngine):
                action = _action(subject(args, kwargs))
                _permit(traced(_evaluated(judge, action, on_policy)))
                with _recording(judge, action):
                    return function(*args, **kwargs)
            result: PolicyResult = traced(judge.check_policy(*called(function.__name__, args, kwargs), on_policy))
            return function(*args, **kwargs) if result else result

        return run

    return decorate


def _action(what: Concepts | Action) -> Action:
    if not isinstance(what, Action):
        raise PolicyError("an engine judges actions, not concepts", "give a function that makes the action, or a PolicySet")
    return what


def _evaluated(engine: PolicyEngine, action: Action, on_policy: OnPolicy | None) -> EvaluationResult:
    """What an engine says when ``on_policy`` was asked."""
    if on_policy is not None and is_async(on_policy):
        raise asynchronous("on_policy")
    result = engine.evaluate(action)
    if result.decision != "ask" or on_policy is None:
        return result
    found = _found(engine, result)
    return engine.resolve(action, result, _answered(lambda: on_policy(found), len(found), len(result.questions)))


async def _aevaluated(engine: PolicyEngine, action: Action, on_policy: Any) -> EvaluationResult:
    result = await engine.aevaluate(action)
    if result.decision != "ask" or on_policy is None:
        return result
    found = _found(engine, result)
    try:
        given = on_policy(found)
        given = await given if is_async(on_policy) else given
    except Exception:
        failed("`on_policy` failed")
        given = False
    return await engine.aresolve(action, result, _answered(lambda: given, len(found), len(result.questions)))


def _found(engine: PolicyEngine, result: EvaluationResult) -> list[PolicyViolation]:
    return [one for policies in engine.policy_sets for one in policies.violations(result)]


def _permit(result: EvaluationResult) -> None:
    if not result.passed:
        raise NeedsApproval(result) if result.decision == "ask" else Blocked(result)


@contextlib.contextmanager
def _recording(engine: PolicyEngine, action: Action) -> Iterator[None]:
    """Records what came of the body."""
    try:
        yield
    except BaseException as error:
        engine.post_action(action, error)
        raise
    engine.post_action(action, True)


def _answered(ask: Callable[[], Any], violations: int, questions: int) -> list[bool | Answer]:
    """Answers for an engine, which asks one question for each violation that needs a yes. What is no answer is a no."""
    try:
        given = ask()
        answers = _answers(given, violations)
    except Exception:
        failed("`on_policy` failed")
        return [False] * questions
    if isinstance(given, bool):
        return [given] * questions
    approved = len(answers) == violations and all(_yes(answer) for answer in answers)
    return [approved] * questions


def _yes(answer: Any) -> bool:
    return answer is True or (isinstance(answer, dict) and answer["approved"] is True)


def _said(found: Mapping[str, Any]) -> PolicyCallbackResult:
    return PolicyCallbackResult(
        found["passed"], found.get("message"), found.get("decision"), found.get("fix"), found.get("evidence")
    )


def _answers(given: Any, count: int) -> list[Any]:
    """As the bridge takes them. What is no answer is none, and none is a no."""
    if isinstance(given, bool):
        return [given] * count
    answers = [
        {"approved": one.approved, "reason": one.reason} if isinstance(one, Answer) else one for one in given
    ]
    return answers if all(isinstance(one, (bool, dict)) for one in answers) else []


def _answer(given: Any) -> Answer | None:
    if given is None or isinstance(given, bool):
        return None if given is None else Answer(given)
    return Answer(bool(given["approved"]), given.get("reason"))


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Words that the bridge does not take, as an error of the package."""
    try:
        yield
    except LictorError:
        raise
    except (TypeError, ValueError) as error:
        raise PolicyError(str(error), "use the words of the catalogue, and `single`, `multiple` or `unknown`") from error


def _subject(what: Concepts | Action, call_context: Action | None) -> tuple[list[tuple[str, str]] | None, Action]:
    if isinstance(what, Action):
        return None, what
    try:
        concepts = [(str(verb), str(target)) for verb, target in what]
    except (TypeError, ValueError):
        raise PolicyError(f"`{what!r}` is no list of concepts", 'give pairs: `[("delete", "file")]`') from None
    return concepts, call_context if call_context is not None else Action(ActionKind.TOOL, {}, tool="concepts")


def _called(policy: Policy, callback: Callable[[PolicyCallContext], Any]) -> Callable[..., Any]:
    def call(action: Action, facts: Any, session: Any, risk: float, deed: Any) -> Any:
        context = PolicyCallContext(action, facts, session, risk, policy, deed)
        if is_async(callback):
            return waiting(lambda _: callback(context), policy.name)(action)
        return callback(context)

    return call


def _resolved(policy: Policy) -> Callable[[PolicyCallContext], Any]:
    """A callable, or a dotted path to one, found once."""
    if callable(policy.callback):
        return policy.callback
    if not isinstance(policy.callback, str):
        raise PolicyError(f"the callback of policy `{policy.name}` cannot be called", "give a function, or its dotted path")
    module, _, name = policy.callback.rpartition(".")
    try:
        found: Callable[[PolicyCallContext], Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise PolicyError(
            f"the callback `{policy.callback}` of policy `{policy.name}` cannot be found: {error}",
            "name an importable function, for example `package.module.function`",
        ) from error
    return found
