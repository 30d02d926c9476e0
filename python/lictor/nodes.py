"""Combinators: plain descriptions of a policy graph. One description may serve many engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from typing import Any as Anything

from lictor._async import is_async, waiting
from lictor._given import flag, function, several, whole, word
from lictor.context import GovernanceContext
from lictor.actions import Action
from lictor.errors import GraphError
from lictor.guards.built_in import NativeGuard
from lictor.guards.own import describe, is_tool_policy
from lictor.layers import GovernanceLayer

if TYPE_CHECKING:
    from lictor.tools import ToolGuard

# A function, or a condition in the language of ``governance.yaml``: ``"action.task_type == 'deploy'"``.
Condition = Callable[[Action, GovernanceContext], Anything] | str


class Combinator:
    """A node with children."""

    name: str | None

    def children(self) -> tuple[Anything, ...]:
        raise NotImplementedError

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        """What the bridge takes."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), len(self.children())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.children()))})"


class All(Combinator):
    """All children must pass. With ``short_circuit`` the first block ends it."""

    def __init__(self, *children: Anything, short_circuit: bool = False, name: str | None = None) -> None:
        self._children, self._short_circuit, self.name = children, flag("short_circuit", short_circuit), _name(name)

    def children(self) -> tuple[Anything, ...]:
        return self._children

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        return ("all", [build(child) for child in self._children], self._short_circuit, self.name)


class Any(Combinator):
    """One child that passes is enough."""

    def __init__(self, *children: Anything, name: str | None = None) -> None:
        self._children, self.name = children, _name(name)

    def children(self) -> tuple[Anything, ...]:
        return self._children

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        return ("any", [build(child) for child in self._children], self.name)


class Not(Combinator):
    """Passes what its child blocks, and blocks what it passes."""

    def __init__(self, child: Anything, *, reason: str = "", fix: str = "", name: str | None = None) -> None:
        self._child, self.name = child, _name(name)
        self._reason = word("reason", reason) or "this is only allowed where the opposite check fails"
        self._fix = word("fix", fix) or "choose another way to reach the goal, or ask a person"

    def children(self) -> tuple[Anything, ...]:
        return (self._child,)

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        return ("not", build(self._child), self._reason, self._fix, self.name)


class When(Combinator):
    """Chooses a branch. A condition that raises is an error, and neither branch runs."""

    def __init__(
        self, condition: Condition, then: Anything, otherwise: Anything = None, *, name: str | None = None
    ) -> None:
        self._condition = condition if isinstance(condition, str) else function("condition", condition)
        self._then, self._otherwise, self.name = then, otherwise, _name(name)

    def children(self) -> tuple[Anything, ...]:
        return (self._then,) if self._otherwise is None else (self._then, self._otherwise)

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        otherwise = None if self._otherwise is None else build(self._otherwise)
        condition = self._condition
        called = condition if isinstance(condition, str) or not is_async(condition) else waiting(condition, "when")
        return ("when", called, build(self._then), otherwise, self.name)

    @property
    def condition(self) -> Condition:
        return self._condition


class Threshold(Combinator):
    """So many children must pass."""

    def __init__(
        self, n: int, *children: Anything, short_circuit: bool = False, name: str | None = None
    ) -> None:
        self._n, self._children, self.name = whole("n", n), children, _name(name)
        self._short_circuit = flag("short_circuit", short_circuit)

    def children(self) -> tuple[Anything, ...]:
        return self._children

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        return ("threshold", self._n, [build(child) for child in self._children], self._short_circuit, self.name)


class Escalate(Combinator):
    """The fallback decides what the primary blocks; the override stays visible."""

    def __init__(
        self, primary: Anything, fallback: Anything, *, override_needs_human: bool = False, name: str | None = None
    ) -> None:
        self._primary, self._fallback, self.name = primary, fallback, _name(name)
        self._human = flag("override_needs_human", override_needs_human)

    def children(self) -> tuple[Anything, ...]:
        return (self._primary, self._fallback)

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        return ("escalate", build(self._primary), build(self._fallback), self._human, self.name)


def pipeline(*guards: Anything) -> All:
    """Guards one after the other; the first block ends it."""
    return All(*guards, short_circuit=True)


def layered(
    boundary: tuple[Anything, ...] = (),
    resource: tuple[Anything, ...] = (),
    intent: tuple[Anything, ...] = (),
    observe: tuple[Anything, ...] = (),
) -> All:
    """The four layers: boundaries end the evaluation early, observers always run."""
    given = {"boundary": boundary, "resource": resource, "intent": intent, "observe": observe}
    first, *others, last = [several(name, guards) for name, guards in given.items()]
    groups = [All(*first, short_circuit=True)] if first else []
    groups += [All(*group) for group in others if group]
    return All(*groups, *last)


def _name(given: str | None) -> str | None:
    return None if given is None else word("name", given)


class Plan:
    """A graph as the bridge takes it: guards with unique names, observers apart, a fingerprint of it all."""

    def __init__(self, root: Anything, project_root: str) -> None:
        self._names: dict[int, str] = {}
        self._taken: set[str] = set()
        self._parts: list[str] = []
        self._kept: list[Anything] = []
        self._tool_guards: dict[int, ToolGuard] = {}
        self._project_root = project_root
        self.observers: list[tuple[Anything, ...]] = []
        observers = [node for node in _leaves(root) if _is_observer(node)]
        self.listens = False
        # The first part that has to be awaited, by name.
        self.waits: str | None = None
        # Policies, so that violations can be told by the policy that they are of.
        self.policy_sets: list[Anything] = []
        for node in observers:
            name, layer, check, sees = describe(node)
            name = self._unique(node, name)
            self.observers.append(("python", name, layer.value, self._called(name, check), sees, None))
        self.root = self._build(root)
        if self.root is None:
            raise GraphError("nothing in the graph decides", "add a guard that is not in the layer OBSERVE")
        import hashlib

        self.fingerprint = hashlib.sha256("\n".join(self._parts).encode(errors="surrogatepass")).hexdigest()

    def _build(self, node: Anything) -> Anything:
        if isinstance(node, Combinator):
            self._parts.append(f"{type(node).__name__} {node.name}")
            if isinstance(node, When):
                self._heed(node.name or "when", node.condition)
                self._parts.append(_code(node.condition))
            parts = node.build(self._build)
            return _without_observers(parts)
        if _is_observer(node):
            return None
        self._kept.append(node)
        if isinstance(node, NativeGuard):
            name = self._unique(node, node.name)
            self._parts.append(f"{name} {sorted(node.config.items())!r} {node.root}")
            guard = (node.kind, node.config, node.root or self._project_root)
            return ("guard", id(node), name, guard)
        native = getattr(node, "native_guard", None)
        if native is not None:
            name = self._unique(node, node.name)
            codes = [_code(callback) for callback in node.callbacks.values()]
            self._parts.append(f"{name} {node.rules()!r} {codes!r}")
            self.policy_sets.append(node)
            for called, callback in node.callbacks.items():
                self._heed(called, callback)
            return ("guard", id(node), name, native())
        if is_tool_policy(node):
            from lictor.tools import ToolGuard

            node = self._tool_guards.setdefault(id(node), ToolGuard(node))
        name, layer, check, sees = describe(node)
        name = self._unique(node, name)
        on_result = getattr(node, "on_result", None)
        self.listens = self.listens or on_result is not None
        hear = None if on_result is None else _listener(on_result)
        self._parts.append(f"{name} {layer.value} {_code(check)}")
        return ("guard", id(node), None, ("python", name, layer.value, self._called(name, check), sees, hear))

    def _called(self, name: str, check: Callable[..., Anything]) -> Callable[..., Anything]:
        self._heed(name, check)
        return waiting(check, name) if is_async(check) else check

    def _heed(self, name: str, function: Anything) -> None:
        if self.waits is None and is_async(function):
            self.waits = name

    def _unique(self, node: Anything, name: str) -> str:
        """The same object is one guard; another one with the same name gets a number."""
        known = self._names.get(id(node))
        if known is not None:
            return known
        numbered, number = name, 2
        while numbered in self._taken:
            numbered, number = f"{name}#{number}", number + 1
        self._taken.add(numbered)
        self._names[id(node)] = numbered
        return numbered


def _listener(on_result: Anything) -> Anything:
    from lictor.tools import listener

    return listener(on_result)


def _code(check: Anything) -> str:
    """What tells one piece of code from another: where it is, what it does, and the constants that it uses."""
    code = getattr(getattr(check, "__func__", check), "__code__", None)
    where = f"{getattr(check, '__module__', '')}.{getattr(check, '__qualname__', '')}"
    if code is None:
        return where if not isinstance(check, str) else check
    # A set is written in another order in every process.
    constants = [
        sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant
        for constant in code.co_consts
        if not hasattr(constant, "co_code")
    ]
    return f"{where} {code.co_code.hex()} {code.co_names!r} {constants!r}"


def _is_observer(node: Anything) -> bool:
    return getattr(node, "governance_layer", None) is GovernanceLayer.OBSERVE


def _leaves(node: Anything) -> Iterator[Anything]:
    if isinstance(node, Combinator):
        for child in node.children():
            yield from _leaves(child)
    else:
        yield node


def _without_observers(parts: tuple[Anything, ...]) -> tuple[Anything, ...] | None:
    """Observers run beside the tree: a group that only had observers is gone."""
    cleaned = tuple([child for child in part if child is not None] if isinstance(part, list) else part for part in parts)
    groups = [part for part in cleaned if isinstance(part, list)]
    return None if groups and not any(groups) else cleaned
