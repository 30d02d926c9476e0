"""Guards that are written in Python: a name and ``check`` are enough."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, runtime_checkable

from lictor.errors import PolicyError
from lictor.layers import GovernanceLayer


def snake_case(name: str) -> str:
    """``RateLimitGuard`` → ``rate_limit_guard``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@runtime_checkable
class Guard(Protocol):
    """``check(action)`` or ``check(action, ctx)``. It returns a Verdict, True or None for a pass, False for a block."""

    check: Callable[..., Any]


class BaseGuard:
    """A guard with a layer: a subclass has ``check(action)`` or ``check(action, ctx)``. The name is the class name in snake
    case unless the class says otherwise."""

    governance_layer: ClassVar[GovernanceLayer] = GovernanceLayer.INTENT
    name: str = "base_guard"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in cls.__dict__:
            cls.name = snake_case(cls.__name__)


class FunctionGuard(BaseGuard):
    """A function as a guard."""

    def __init__(self, function: Callable[..., Any], name: str, layer: GovernanceLayer) -> None:
        self.name = name
        self.check = function
        self.layer = layer
        self.__doc__ = function.__doc__


def guard(
    name: str | None = None, *, layer: GovernanceLayer = GovernanceLayer.INTENT
) -> Callable[[Callable[..., Any]], FunctionGuard]:
    """Makes a guard of a function::

        @guard("no_friday_deploys")
        def check(action, ctx): ...
    """
    return lambda function: FunctionGuard(function, name or function.__name__, layer)


def describe(node: Any) -> tuple[str, GovernanceLayer, Callable[..., Any], bool]:
    """Name, layer, check, and whether the check takes the context."""
    if isinstance(node, type):
        # Called as it is, its check would take the action for the guard.
        raise PolicyError(f"`{node.__name__}` is a class and not a guard", f"give an object of it: `{node.__name__}()`")
    if isinstance(getattr(node, "check", None), Callable):  # type: ignore[arg-type]
        check = node.check
        name = getattr(node, "name", None) or snake_case(type(node).__name__)
        layer = getattr(node, "layer", None) or getattr(node, "governance_layer", GovernanceLayer.INTENT)
    elif callable(node):
        check, name, layer = node, getattr(node, "__name__", "guard"), GovernanceLayer.INTENT
        name = "guard" if name == "<lambda>" else name
    else:
        raise PolicyError(
            f"`{node!r}` is not a guard", "give an object with `check`, a function, or a combinator"
        )
    if not isinstance(name, str):
        raise PolicyError(f"the name of `{node!r}` is not text", "give it a name, or none")
    try:
        known = GovernanceLayer(layer)
    except ValueError:
        raise PolicyError(f"`{layer}` is not a layer of `{name}`", "give one of `GovernanceLayer`") from None
    return name, known, check, _takes_context(name, check)


def is_tool_policy(node: Any) -> bool:
    """Whether its check takes a tool, its parameters and ``context``."""
    check = getattr(node, "check", None)
    if check is None:
        return False
    import inspect

    context = inspect.signature(check).parameters.get("context")
    return context is not None and context.kind is inspect.Parameter.KEYWORD_ONLY


def _takes_context(name: str, check: Callable[..., Any]) -> bool:
    import inspect

    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = list(inspect.signature(check).parameters.values())
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters):
        return True
    positional = [parameter for parameter in parameters if parameter.kind in kinds]
    needed = [parameter for parameter in positional if parameter.default is inspect.Parameter.empty]
    if not positional or len(needed) > 2:
        raise PolicyError(f"the check of `{name}` takes {len(needed)} arguments", "take the action, or action and context")
    return len(positional) >= 2
