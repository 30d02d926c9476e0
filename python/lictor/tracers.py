"""Who hears of every evaluation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from lictor._records import dataclass

if TYPE_CHECKING:
    import logging

    from lictor.actions import Action
    from lictor.engine import EvaluationResult
    from lictor.outcomes import Outcome


@dataclass(frozen=True)
class TraceEntry:
    """One step of an evaluation."""

    path: str
    name: str
    kind: str
    layer: str
    value: str | None
    status: str

    @staticmethod
    def of(fields: dict[str, Any]) -> TraceEntry:
        return TraceEntry(
            fields["path"], fields["name"], fields["kind"], fields["layer"], fields.get("value"), fields["status"]
        )

    def __str__(self) -> str:
        return f"{self.path} {self.name}: {self.value or self.status}"


class Tracer(Protocol):
    """A tracer that fails changes nothing about the decision. One that also has ``happened(action, outcome, standing)`` hears
    of outcomes too."""

    def trace(self, action: Action, result: EvaluationResult) -> None: ...


class StderrTracer:
    """Prints the path of every evaluation."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out

    def trace(self, action: Action, result: EvaluationResult) -> None:
        out = self._out or sys.stderr
        print(f"{result.decision} {action!r}", file=out)
        for entry in result.trace:
            print(f"  {entry}", file=out)

    def happened(self, action: Action, outcome: Outcome, standing: str) -> None:
        print(f"{'done' if outcome.success else 'failed'} {action!r} {standing}", file=self._out or sys.stderr)


# The original's name for it; it writes to standard error too.
StdoutTracer = StderrTracer


class CollectingTracer:
    """Keeps what it hears: ``traces`` is ``[(action, [TraceEntry, …])]``, ``outcomes`` is ``[(action, outcome, standing)]``."""

    def __init__(self) -> None:
        self._traces: list[tuple[Action, list[TraceEntry]]] = []
        self._outcomes: list[tuple[Action, Outcome, str]] = []

    @property
    def outcomes(self) -> list[tuple[Action, Outcome, str]]:
        return list(self._outcomes)

    def happened(self, action: Action, outcome: Outcome, standing: str) -> None:
        self._outcomes.append((action, outcome, standing))

    @property
    def traces(self) -> list[tuple[Action, list[TraceEntry]]]:
        return list(self._traces)

    def trace(self, action: Action, result: EvaluationResult) -> None:
        self._traces.append((action, result.trace))


class LoggingTracer:
    """Tells Python's logging: blocks as warnings, the rest as information."""

    def __init__(self, logger: logging.Logger | None = None) -> None:
        import logging

        self._logger = logger or logging.getLogger("lictor")
        self._info, self._warning = logging.INFO, logging.WARNING

    def trace(self, action: Action, result: EvaluationResult) -> None:
        level = self._info if result.passed else self._warning
        self._logger.log(level, "%s %r %s", result.decision, action, result.reason)

    def happened(self, action: Action, outcome: Outcome, standing: str) -> None:
        level = self._warning if standing == "bypass" else self._info
        self._logger.log(level, "%s %r %s", "done" if outcome.success else "failed", action, standing)
