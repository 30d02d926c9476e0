"""Combinators: plain descriptions of a policy graph. One description may serve many engines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any as Anything

from lictor.context import GovernanceContext
from lictor.actions import Action
from lictor.errors import GraphError
from lictor.guards.built_in import NativeGuard
from lictor.guards.own import describe, is_tool_policy
from lictor.layers import GovernanceLayer
from lictor.tools import ToolGuard, listener

Condition = Callable[[Action, GovernanceContext], Anything]


class Combinator:
    """A node with children."""

    name: str | None

    def children(self) -> tuple[Anything, ...]:
        raise NotImplementedError

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        """What the bridge takes."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.children()))})"


class All(Combinator):
    """All children must pass. With ``short_circuit`` the first block ends it."""

    def __init__(self, *children: Anything, short_circuit: bool = False, name: str | None = None) -> None:
        self._children, self._short_circuit, self.name = children, short_circuit, name

    def children(self) -> tuple[Anything, ...]:
        return self._children

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        return ("all", [build(child) for child in self._children], self._short_circuit, self.name)


class Any(Combinator):
    """One child that passes is enough."""

    def __init__(self, *children: Anything, name: str | None = None) -> None:
        self._children, self.name = children, name

    def children(self) -> tuple[Anything, ...]:
        return self._children

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        return ("any", [build(child) for child in self._children], self.name)


class Not(Combinator):
    """Passes what its child blocks, and blocks what it passes."""

    def __init__(self, child: Anything, *, reason: str = "", fix: str = "", name: str | None = None) -> None:
        self._child, self.name = child, name
        self._reason = reason or "this is only allowed where the opposite check fails"
        self._fix = fix or "choose another way to reach the goal, or ask a person"

    def children(self) -> tuple[Anything, ...]:
        return (self._child,)

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        return ("not", build(self._child), self._reason, self._fix, self.name)


class When(Combinator):
    """Chooses a branch. A condition that raises is an error, and neither branch runs."""

    def __init__(
        self, condition: Condition, then: Anything, otherwise: Anything = None, *, name: str | None = None
    ) -> None:
        self._condition, self._then, self._otherwise, self.name = condition, then, otherwise, name

    def children(self) -> tuple[Anything, ...]:
        return (self._then,) if self._otherwise is None else (self._then, self._otherwise)

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        otherwise = None if self._otherwise is None else build(self._otherwise)
        return ("when", self._condition, build(self._then), otherwise, self.name)


class Threshold(Combinator):
    """So many children must pass."""

    def __init__(
        self, n: int, *children: Anything, short_circuit: bool = False, name: str | None = None
    ) -> None:
        self._n, self._children, self._short_circuit, self.name = n, children, short_circuit, name

    def children(self) -> tuple[Anything, ...]:
        return self._children

    def build(self, build: Callable[[Anything], Anything]) -> tuple[Anything, ...]:
        return ("threshold", self._n, [build(child) for child in self._children], self._short_circuit, self.name)


class Escalate(Combinator):
    """The fallback decides what the primary blocks; the override stays visible."""

    def __init__(
        self, primary: Anything, fallback: Anything, *, override_needs_human: bool = False, name: str | None = None
    ) -> None:
        self._primary, self._fallback, self._human, self.name = primary, fallback, override_needs_human, name

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
    groups = [All(*boundary, short_circuit=True)] if boundary else []
    groups += [All(*group) for group in (resource, intent) if group]
    return All(*groups, *observe)


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
        for node in observers:
            name, layer, check, sees = describe(node)
            self.observers.append(("python", self._unique(node, name), layer.value, check, sees, None))
        self.root = self._build(root)
        if self.root is None:
            raise GraphError("nothing in the graph decides", "add a guard that is not in the layer OBSERVE")
        self.fingerprint = hashlib.sha256("\n".join(self._parts).encode()).hexdigest()

    def _build(self, node: Anything) -> Anything:
        if isinstance(node, Combinator):
            self._parts.append(f"{type(node).__name__} {node.name}")
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
            self._parts.append(f"{name} {node!r}")
            return ("guard", id(node), name, native())
        if is_tool_policy(node):
            node = self._tool_guards.setdefault(id(node), ToolGuard(node))
        name, layer, check, sees = describe(node)
        name = self._unique(node, name)
        on_result = getattr(node, "on_result", None)
        self.listens = self.listens or on_result is not None
        hear = None if on_result is None else listener(on_result)
        code = getattr(getattr(check, "__func__", check), "__code__", None)
        self._parts.append(f"{name} {layer.value} {code.co_code.hex() if code else ''} {_where(check)}")
        return ("guard", id(node), None, ("python", name, layer.value, check, sees, hear))

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


def _where(check: Anything) -> str:
    return f"{getattr(check, '__module__', '')}.{getattr(check, '__qualname__', '')}"


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
