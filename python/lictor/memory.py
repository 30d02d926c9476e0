"""What a guard remembers of a session. It is recorded, belongs to one session, and outlives the process."""

from __future__ import annotations

from typing import Any, Protocol


class _Raw(Protocol):
    def recall(self, key: str) -> Any: ...
    def remember(self, key: str, value: Any) -> None: ...


class GuardMemory:
    """Values by key. What one action wrote is seen by the next one."""

    __slots__ = ("_raw",)

    def __init__(self, raw: _Raw) -> None:
        self._raw = raw

    def get(self, key: str, default: Any = None) -> Any:
        value = self._raw.recall(key)
        return default if value is None else value

    def __getitem__(self, key: str) -> Any:
        value = self._raw.recall(key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self._raw.remember(key, value)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._raw.recall(key) is not None
