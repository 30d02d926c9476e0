"""Running what was judged: the same for an engine and for a project."""

from __future__ import annotations

import contextlib
import functools
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from lictor._async import is_async
from lictor.actions import Action
from lictor.outcomes import Outcome

if TYPE_CHECKING:
    from typing_extensions import Self

_Result = TypeVar("_Result")


class Governing(ABC, Generic[_Result]):
    """Evaluates, runs, records the outcome."""

    @abstractmethod
    def check(self, action: Action) -> _Result: ...

    @abstractmethod
    async def acheck(self, action: Action) -> _Result: ...

    @abstractmethod
    def post_action(self, action: Action, outcome: Any = True) -> Any: ...

    @abstractmethod
    async def apost_action(self, action: Action, outcome: Any = True) -> Any: ...

    # One place with its store: frameworks copy what they are given.
    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> Any:
        kind = type(self).__name__
        raise TypeError(f"a `{kind}` cannot be pickled; make one in each process, with the same `SQLiteSessionStore` or project")

    @contextlib.contextmanager
    def governed(self, action: Action) -> Iterator[_Result]:
        """Evaluates, runs the body, records its outcome::

            with engine.governed(Action.bash("make")):
                subprocess.run(["make"], check=True)
        """
        result = self.check(action)
        try:
            yield result
        except BaseException as error:
            self.post_action(action, error)
            raise
        self.post_action(action, Outcome(success=True))

    @contextlib.asynccontextmanager
    async def agoverned(self, action: Action) -> AsyncIterator[_Result]:
        """As :meth:`governed`, with ``async with``."""
        result = await self.acheck(action)
        try:
            yield result
        except BaseException as error:
            # Not awaited: a task that is being cancelled may not get to the end of an await.
            self.post_action(action, error)
            raise
        await self.apost_action(action, Outcome(success=True))

    def govern(self, make_action: Callable[..., Action]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator for functions and coroutines: ``make_action`` makes the action from the call's arguments."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            if is_async(function):

                @functools.wraps(function)
                async def arun(*args: Any, **kwargs: Any) -> Any:
                    async with self.agoverned(make_action(*args, **kwargs)):
                        return await function(*args, **kwargs)

                return arun

            @functools.wraps(function)
            def run(*args: Any, **kwargs: Any) -> Any:
                with self.governed(make_action(*args, **kwargs)):
                    return function(*args, **kwargs)

            return run

        return decorate
