"""Errors with a reason and a way on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lictor.engine import EvaluationResult
    from lictor.project import ProjectEvaluation


class LictorError(Exception):
    """The family. ``reason`` says what is wrong, ``fix`` what to do next, ``kind`` is a stable word where there is one, and
    ``errors`` has every single thing that is wrong where there are several."""

    def __init__(self, reason: str, fix: str = "", kind: str = "", errors: Sequence[str] = ()) -> None:
        super().__init__(f"{reason}; {fix}" if fix and fix not in reason else reason)
        self.reason = reason
        self.fix = fix
        self.kind = kind
        self.errors = list(errors)

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is made anew from what it was made of: workers of a pool hand theirs on.
        return (_again, (type(self), self.reason, self.fix, self.kind, self.errors, self.args))


class ActionError(LictorError, ValueError):
    """An action that cannot be judged as it is."""


class GraphError(LictorError, ValueError):
    """A policy graph that means nothing."""


class PolicyError(LictorError, ValueError):
    """A policy or a guard's settings that cannot be used."""


class StoreError(LictorError, OSError):
    """The record could not be read or written."""


class ApprovalError(LictorError, LookupError):
    """A question that cannot be answered."""


class LedgerError(LictorError, LookupError):
    """A plan, a finding or evidence that cannot be used."""


class ProjectError(LictorError):
    """A call that a project refused."""


class Incomplete(LictorError):
    """An agent may not stop yet."""


class ContextClosed(LictorError, RuntimeError):
    """A guard wrote to its context after it had returned."""


class Blocked(LictorError, PermissionError):
    """The policy stopped an action."""

    def __init__(self, evaluation: EvaluationResult | ProjectEvaluation) -> None:
        super().__init__(evaluation.reason, evaluation.fix, evaluation.decision)
        self.evaluation = evaluation

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.evaluation,))


class NeedsApproval(Blocked):
    """A person has to say yes first."""


def _again(error: type[LictorError], reason: str, fix: str, kind: str, errors: list[str], args: tuple[Any, ...]) -> LictorError:
    made = error(reason, fix, kind, errors)
    made.args = args
    return made
