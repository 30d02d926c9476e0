"""Questions that wait for a person, and the answers to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from lictor._given import told


class _Asked(Protocol):
    def pending(self) -> list[dict[str, Any]]: ...
    def answer(
        self, id: str, by: str, minutes: int | None, reason: str | None
    ) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Waiting:
    """A question that waits. ``fields`` has all that is known of it."""

    id: str
    reasons: tuple[str, ...]
    fields: dict[str, Any]

    @staticmethod
    def of(fields: dict[str, Any]) -> Waiting:
        asked = fields.get("asked") or ()
        reasons = (point.get("message") or point.get("reason") or "" for point in asked)
        return Waiting(fields["id"], tuple(filter(None, reasons)), fields)


class Approvals:
    """What waits for a person's word in one engine or project. A yes counts once, for the very same action in the same
    session under the same policy; under a governed agent nobody may give it."""

    def __init__(self, asked: _Asked) -> None:
        self._asked = asked

    def pending(self) -> list[Waiting]:
        """What waits, oldest first."""
        return [Waiting.of(fields) for fields in self._asked.pending()]

    def approve(self, id: str, *, by: str | None = None, minutes: int = 60) -> Waiting:
        """Says yes, for so long. ``id`` may be shortened."""
        return self._answer(id, by, minutes, None)

    def deny(self, id: str, *, by: str | None = None, reason: str | None = None) -> Waiting:
        """Says no. Trying the same again is refused with the same answer."""
        return self._answer(id, by, None, reason)

    def __iter__(self) -> Iterator[Waiting]:
        return iter(self.pending())

    def __len__(self) -> int:
        return len(self._asked.pending())

    @told
    def _answer(self, id: str, by: str | None, minutes: int | None, reason: str | None) -> Waiting:
        return Waiting.of(self._asked.answer(id, by or user(), minutes, reason))


def user() -> str:
    """Who runs this program."""
    import getpass

    return getpass.getuser()
