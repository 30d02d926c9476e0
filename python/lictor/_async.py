"""Coroutines among guards, conditions and callbacks: they run on the caller's loop while the engine waits on a thread."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lictor.errors import PolicyError

if TYPE_CHECKING:
    import asyncio

# The loops that wait for an evaluation, by the identity of its action: the engine may call guards on a thread of its own.
_loops: dict[int, list[asyncio.AbstractEventLoop]] = {}


def is_async(function: Any) -> bool:
    """Whether calling it gives a coroutine."""
    import inspect

    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


@contextlib.contextmanager
def served_by(action: object, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Coroutines that judge this action run on that loop."""
    loops = _loops.setdefault(id(action), [])
    loops.append(loop)
    try:
        yield
    finally:
        loops.remove(loop)
        if not loops:
            _loops.pop(id(action), None)


def waiting(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A plain function that waits for the coroutine. Its first argument is the action."""

    def wait(action: object, *rest: Any) -> Any:
        import asyncio

        loops = _loops.get(id(action))
        if not loops:
            raise asynchronous(name)
        return asyncio.run_coroutine_threadsafe(function(action, *rest), loops[-1]).result()

    return wait


def asynchronous(name: str) -> PolicyError:
    return PolicyError(f"`{name}` is asynchronous", "call `await engine.aevaluate(action)` instead")
