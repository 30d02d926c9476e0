"""A connection to a file must not cross a fork: the child opens its own. A fork waits until no other thread is inside an engine:
its locks would stay locked in the child."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

from lictor._lictor import after_fork, before_fork

_T = TypeVar("_T")

# How often this process and those above it have been forked.
_generation = 0
# What belongs to a parent. Closing it here could take a lock or a journal away from the parent.
_foreign: list[object] = []


def _forked() -> None:
    global _generation
    _generation += 1
    after_fork(True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=before_fork, after_in_parent=lambda: after_fork(False), after_in_child=_forked)


class Reopening(Generic[_T]):
    """Something that is opened once in each process."""

    __slots__ = ("_generation", "_open", "_opened")

    def __init__(self, open: Callable[[], _T]) -> None:
        self._open = open
        self._opened = open()
        self._generation = _generation

    def get(self) -> _T:
        if self._generation != _generation:
            _foreign.append(self._opened)
            self._opened, self._generation = self._open(), _generation
        return self._opened
