"""What guards see of each other and of the session while one action is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, TypeVar

from lictor._lictor import RawContext
from lictor.actions import Action
from lictor.errors import ContextClosed
from lictor.memory import GuardMemory
from lictor.tracers import TraceEntry
from lictor.verdicts import GivenVerdict, Verdict

_T = TypeVar("_T")


class SessionState(Mapping[str, Any]):
    """The counters of a session: ``session.action_count`` or ``session["action_count"]``; ``session.history`` has its newest
    calls."""

    __slots__ = ("_fields", "_history")

    def __init__(self, fields: Mapping[str, Any], history: Callable[[], list[dict[str, Any]]] | None = None) -> None:
        self._fields = fields
        self._history = history

    @property
    def history(self) -> list[dict[str, Any]]:
        """The newest calls, the newest last: ``{tool, kind, payload, decision, outcome?, at}``. Read from the record when
        somebody asks."""
        return [] if self._history is None else self._history()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"a session has no `{name}`") from None

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return (SessionState, (dict(self._fields),))

    def __repr__(self) -> str:
        return f"SessionState({dict(self._fields)!r})"


class Annotations(MutableMapping[str, Any]):
    """Notes between guards. A key is this guard's own, then the full name ``guard.key`` of another's, then what another guard
    left under that key last."""

    __slots__ = ("_raw",)

    def __init__(self, raw: RawContext) -> None:
        self._raw = raw

    def __getitem__(self, key: str) -> Any:
        own = self._raw.annotation(key)
        if own is not None:
            return own
        notes = self._raw.annotations()
        return notes[_full_name(notes, key, self._raw.verdicts)]

    def __setitem__(self, key: str, value: Any) -> None:
        _write(lambda: self._raw.annotate(key, value))

    def __delitem__(self, key: str) -> None:
        raise TypeError("an annotation stays: evidence does not go away")

    def __contains__(self, key: object) -> bool:
        try:
            self[key]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw.annotations())

    def __len__(self) -> int:
        return len(self._raw.annotations())


class Notes(dict[str, Any]):
    """The notes of a whole evaluation by full name, ``guard.key``; the key alone finds one too."""

    def __missing__(self, key: str) -> Any:
        return self[_full_name(self, key, [])]


def _full_name(notes: Mapping[str, Any], key: object, verdicts: list[dict[str, Any]]) -> str:
    """The note that a key without its guard means: that of the guard which spoke last."""
    if isinstance(key, str) and key in notes:
        return key
    found = [name for name in notes if name.endswith(f".{key}")]
    if not found:
        raise KeyError(key)
    order = {given["guard"]: place for place, given in enumerate(verdicts)}
    return max(found, key=lambda name: order.get(name.removesuffix(f".{key}"), -1))


class GovernanceContext:
    """The state that flows through the graph. Reads stay valid after the guard has returned, writes do not."""

    __slots__ = ("_history", "_raw", "action")

    def __init__(
        self, raw: RawContext, action: Action, history: Callable[[Action], list[dict[str, Any]]] | None = None
    ) -> None:
        self._raw = raw
        self.action = action
        self._history = history

    @property
    def session(self) -> SessionState:
        """The session before this action."""
        history, action = self._history, self.action
        return SessionState(self._raw.session, None if history is None else lambda: history(action))

    @property
    def risk_score(self) -> float:
        return self._raw.risk_score

    @property
    def annotations(self) -> Annotations:
        return Annotations(self._raw)

    @property
    def memory(self) -> GuardMemory:
        """What this guard remembers of the session, across actions and processes."""
        return GuardMemory(self._raw)

    @property
    def verdicts(self) -> list[GivenVerdict]:
        """What guards said so far."""
        return [GivenVerdict.of(given) for given in self._raw.verdicts]

    @property
    def violations(self) -> list[dict[str, Any]]:
        return self._raw.violations

    @property
    def trace(self) -> list[TraceEntry]:
        return [TraceEntry.of(entry) for entry in self._raw.trace]

    @property
    def facts(self) -> dict[str, Any]:
        """What the action would really do, worked out by Lictor."""
        return self._raw.facts

    @property
    def now(self) -> float:
        """Seconds since 1970. One value for the whole evaluation."""
        return self._raw.now

    def annotate(self, key: str, value: Any) -> None:
        _write(lambda: self._raw.annotate(key, value))

    def annotation(self, name: str) -> Any:
        return self._raw.annotation(name)

    def add_risk(self, fraction: float) -> None:
        _write(lambda: self._raw.add_risk(fraction))

    def tag(self, tag: str) -> None:
        """Marks the action: consecutive actions with a tag are counted in the session."""
        _write(lambda: self._raw.tag(tag))

    def also(self, verdict: Verdict) -> None:
        """One more verdict of the same guard; the strictest counts."""
        _write(lambda: self._raw.also(verdict))

    def claim(
        self,
        *,
        actions: int | None = None,
        tasks: int | None = None,
        pace: int | None = None,
        spend: str | None = None,
        amount: int = 1,
        limit: int = 0,
        streak: str | None = None,
        at_most: int = 0,
    ) -> bool:
        """Whether the session has room. It is checked again when the judgement is recorded, so that two actions at
        once cannot both take the last place."""
        return _write(
            lambda: self._raw.claim(
                actions=actions, tasks=tasks, pace=pace, spend=spend, amount=amount, limit=limit, streak=streak,
                at_most=at_most,
            )
        )


class CalledContext:
    """What feedback providers and completion checks both see of a session."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    @property
    def session(self) -> SessionState:
        return SessionState(self._fields["session"])

    @property
    def session_id(self) -> str:
        return str(self._fields["session_id"])

    def recent_tool_calls(self, n: int = 10) -> list[dict[str, Any]]:
        """The newest calls, the newest last, at most 50: ``{tool, kind, payload, decision, outcome?, at}``."""
        calls: list[dict[str, Any]] = self._fields["recent_calls"]
        return calls[-n:] if n > 0 else []


def _write(write: Callable[[], _T]) -> _T:
    try:
        return write()
    except RuntimeError as error:
        raise ContextClosed(str(error)) from error
