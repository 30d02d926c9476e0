"""Where sessions and records are kept."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from lictor._given import path as given_path, whole
from lictor._records import dataclass

if TYPE_CHECKING:
    from pathlib import Path


class SessionStore(Protocol):
    """A place for sessions and records: memory or a file."""

    @property
    def path(self) -> Path | None: ...


@dataclass(frozen=True)
class InMemorySessionStore:
    """Ends with the process. Keeps the newest records, and what is known of each session."""

    keep: int = 10_000

    def __post_init__(self) -> None:
        whole("keep", self.keep, 1)

    @property
    def path(self) -> None:
        return None


@dataclass(frozen=True, init=False)
class SQLiteSessionStore:
    """A file that many processes may share."""

    path: Path

    def __init__(self, path: str | os.PathLike[str] = "lictor.db") -> None:
        from pathlib import Path

        object.__setattr__(self, "path", Path(given_path("path", path)).absolute())
