"""Policies on ``verb → object``, with callbacks and confirmations."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from lictor.actions import Action
from lictor.engine import EvaluationResult, PolicyEngine
from lictor.errors import Blocked, NeedsApproval, PolicyError

_T = TypeVar("_T")
Cardinality = Literal["single", "multiple", "unknown"]


@dataclass(frozen=True)
class PolicyCallbackResult:
    """What a callback found. ``True`` and ``False`` are enough where there is nothing to say."""

    passed: bool
    message: str | None = None


@dataclass(frozen=True)
class PolicyCallContext:
    """What a callback is told."""

    action: Action
    facts: Mapping[str, Any]
    session: Mapping[str, Any]
    risk_score: float
    policy: Policy

    @property
    def tool_name(self) -> str:
        return self.action.tool


@dataclass(frozen=True)
class Policy:
    """A rule on what an action would do. With neither confirmation nor callback it could decide nothing."""

    name: str
    verb: str = "*"
    object: str = "*"
    requires_confirmation: bool = True
    trigger_cardinality: Cardinality | None = None
    callback: Callable[[PolicyCallContext], bool | PolicyCallbackResult] | str | None = None
    confirmation_message: str | None = None
    fix: str | None = None
    paths: Sequence[str] = ()
    hosts: Sequence[str] = ()
    tools: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PolicyViolation:
    """A policy that was triggered."""

    policy: Policy
    message: str
    requires_confirmation: bool
    verb: str
    object: str
    cardinality: str
    callback_result: Mapping[str, Any] | None = None
    fault: str | None = None

    def __str__(self) -> str:
        return f"{self.policy.name}: {self.message}"


class PolicySet:
    """Policies as one guard of a graph."""

    def __init__(self, policies: Sequence[Policy], *, name: str = "policies") -> None:
        self.name = name
        self.policies = tuple(policies)
        self._callbacks = {
            policy.name: _wrapped(policy) for policy in self.policies if policy.callback is not None
        }

    def native_guard(self) -> tuple[Any, ...]:
        """What the bridge takes."""
        rules = [
            {
                "name": policy.name,
                "verb": policy.verb,
                "object": policy.object,
                "cardinality": policy.trigger_cardinality,
                "requires_confirmation": policy.requires_confirmation,
                "callback": policy.name if policy.callback is not None else None,
                "message": policy.confirmation_message,
                "fix": policy.fix,
                "paths": list(policy.paths),
                "hosts": list(policy.hosts),
                "tools": list(policy.tools),
            }
            for policy in self.policies
        ]
        return ("policies", self.name, rules, self._callbacks)

    def violations(self, result: EvaluationResult) -> list[PolicyViolation]:
        """The violations of an evaluation, each with the policy that it is of."""
        known = {policy.name: policy for policy in self.policies}
        return [
            PolicyViolation(
                policy=known[found["policy"]],
                message=found["message"],
                requires_confirmation=found["requires_confirmation"],
                verb=found["verb"],
                object=found["object"],
                cardinality=found["cardinality"],
                callback_result=found.get("callback_result"),
                fault=found.get("fault"),
            )
            for found in result.violations
            if found["policy"] in known
        ]

    def __repr__(self) -> str:
        return f"PolicySet({list(self.policies)!r})"


def policy_guard(
    engine: PolicyEngine,
    policies: PolicySet,
    make_action: Callable[..., Action],
    on_policy: Callable[[list[PolicyViolation]], Sequence[bool] | bool] | None = None,
) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """A decorator that judges each call. ``on_policy`` gets all violations once and answers each of them, or all with
    one boolean; whatever else it returns or raises blocks."""

    def decorate(function: Callable[..., _T]) -> Callable[..., _T]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> _T:
            action = make_action(*args, **kwargs)
            result = engine.evaluate(action)
            if result.decision == "ask" and on_policy is not None:
                result = engine.resolve(action, result, _answers(on_policy, policies.violations(result)))
            if not result.passed:
                raise NeedsApproval(result) if result.decision == "ask" else Blocked(result)
            try:
                returned = function(*args, **kwargs)
            except BaseException as error:
                engine.post_action(action, error)
                raise
            engine.post_action(action, True)
            return returned

        return run

    return decorate


def _answers(
    on_policy: Callable[[list[PolicyViolation]], Sequence[bool] | bool], violations: list[PolicyViolation]
) -> Sequence[bool] | bool:
    try:
        answers = on_policy(violations)
    except Exception:
        return False
    if isinstance(answers, bool):
        return answers
    return answers if all(isinstance(answer, bool) for answer in answers) else False


def _wrapped(policy: Policy) -> Callable[..., bool | PolicyCallbackResult]:
    callback = _resolved(policy)

    def call(action: Action, facts: Any, session: Any, risk: float, _: str) -> bool | PolicyCallbackResult:
        return callback(PolicyCallContext(action, facts, session, risk, policy))

    return call


def _resolved(policy: Policy) -> Callable[[PolicyCallContext], bool | PolicyCallbackResult]:
    """A callable, or a dotted path to one, found once."""
    if not isinstance(policy.callback, str):
        assert policy.callback is not None
        return policy.callback
    module, _, name = policy.callback.rpartition(".")
    try:
        found: Callable[[PolicyCallContext], bool | PolicyCallbackResult] = getattr(
            importlib.import_module(module), name
        )
    except (ImportError, AttributeError, ValueError) as error:
        raise PolicyError(
            f"the callback `{policy.callback}` of policy `{policy.name}` cannot be found: {error}",
            "name an importable function, for example `package.module.function`",
        ) from error
    return found
