"""What a program gives to a constructor: taken as it is meant, or refused in words that name it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from lictor.errors import ActionError, LictorError, PolicyError


_Call = TypeVar("_Call", bound=Callable[..., Any])


def told(call: _Call) -> _Call:
    """A method whose arguments the bridge takes: what it does not take is an error of the package."""

    @functools.wraps(call)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except LictorError:
            raise
        except (TypeError, ValueError) as error:
            raise ActionError(f"`{call.__name__}`: {error}", "give Unicode text, numbers and mappings as documented") from error

    return run  # type: ignore[return-value]


def several(name: str, given: Any) -> list[Any]:
    """As a list. One text is not taken for a list of its letters, nor a mapping for a list of its keys."""
    if isinstance(given, (str, bytes, os.PathLike)):
        raise PolicyError(f"`{name}` is one text and not a list of them", f"give a list: `[{given!r}]`")
    if isinstance(given, Mapping) or not isinstance(given, Iterable) or isinstance(given, type):
        raise PolicyError(f"`{name}` is {_shown(given)} and not a list", "give a list")
    return list(given)


def texts(name: str, given: Iterable[str | os.PathLike[str]]) -> list[str]:
    """A list of texts: rules for letters, or for numbers, would match nothing, or everything."""
    all = [os.fspath(one) if isinstance(one, os.PathLike) else one for one in several(name, given)]
    for one in all:
        if not isinstance(one, str):
            raise PolicyError(f"`{name}` has {_shown(one)}, which is not text", "give a list of texts")
    return all


def mapping(name: str, given: Any) -> dict[Any, Any]:
    if not isinstance(given, Mapping):
        raise PolicyError(f"`{name}` is {_shown(given)} and not a mapping", "give a mapping by name")
    return dict(given)


def path(name: str, given: Any) -> str:
    """A directory or a file."""
    found = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(found, str):
        raise PolicyError(f"`{name}` is {_shown(given)} and not a path", "give a text or a `pathlib.Path`")
    return found


def number(name: str, given: Any, least: float = 0, above: bool = False) -> float:
    """A finite number from ``least`` on. ``True`` is none."""
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise PolicyError(f"`{name}` is {_shown(given)} and not a number", "give a number")
    if not least <= given < float("inf") or (above and given == least):
        raise PolicyError(f"`{name}` is {given}", f"give a number {'above' if above else 'from'} {least}{'' if above else ' on'}")
    return given


def whole(name: str, given: Any, least: int = 0) -> int:
    """A whole number from ``least`` on."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise PolicyError(f"`{name}` is {_shown(given)} and not a whole number", "give a whole number")
    return int(number(name, given, least))


def flag(name: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise PolicyError(f"`{name}` is {_shown(given)}", "give True or False")
    return given


def word(name: str, given: Any) -> str:
    """One text."""
    if not isinstance(given, str):
        raise PolicyError(f"`{name}` is {_shown(given)} and not text", "give text")
    return given


def function(name: str, given: Any) -> Callable[..., Any]:
    if not callable(given):
        raise PolicyError(f"`{name}` is {_shown(given)}, which cannot be called", "give a function")
    called: Callable[..., Any] = given
    return called


def having(name: str, given: Any, *methods: str) -> Any:
    """An object with these methods; its class is none."""
    if isinstance(given, type):
        raise PolicyError(f"`{name}` is the class `{given.__name__}`", f"give an object of it: `{given.__name__}()`")
    missing = [method for method in methods if not callable(getattr(given, method, None))]
    if missing:
        raise PolicyError(f"`{name}` is {_shown(given)} without `{missing[0]}`", f"give an object with `{missing[0]}(…)`")
    return given


def _shown(given: Any) -> str:
    return "`None`" if given is None else f"a `{type(given).__name__}`"
