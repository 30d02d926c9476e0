"""Completion: the checks before an agent may stop."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lictor._given import flag, having, number, several, texts
from lictor.context import CalledContext

if TYPE_CHECKING:
    from pathlib import Path

    from lictor.ledger import Ledger, Level

# How many names a message has, and how many plans are looked at.
_NAMES = 3
_PLANS = 50


@dataclass(frozen=True)
class TaskCompletionResult:
    """What a check found."""

    complete: bool
    feedback: str | None = None

    @staticmethod
    def ok() -> TaskCompletionResult:
        return TaskCompletionResult(True)

    @staticmethod
    def incomplete(feedback: str) -> TaskCompletionResult:
        return TaskCompletionResult(False, feedback)


class TaskCompletionContext(CalledContext):
    """What a check may look at."""

    def __init__(self, fields: dict[str, Any], root: str) -> None:
        super().__init__(fields)
        self._root = root

    @property
    def tentative_output(self) -> str | None:
        """What the agent said last."""
        text: str | None = self._fields["output"]
        return text

    @property
    def stop_reason(self) -> str | None:
        text: str | None = self._fields["reason"]
        return text

    @property
    def adapter(self) -> str:
        """The agent program."""
        return str(self._fields["agent"])

    @property
    def round(self) -> int:
        """Which round this is, from 1 on."""
        return int(self._fields["round"])

    @property
    def filesystem(self) -> Path:
        """The engine's root directory."""
        from pathlib import Path

        return Path(self._root)


class TaskCompletionChecker(Protocol):
    """One that raises is not met."""

    def check(self, context: TaskCompletionContext) -> TaskCompletionResult: ...


class FileOutputChecker:
    """These files exist and are not empty."""

    def __init__(self, files: Sequence[str | os.PathLike[str]]) -> None:
        self._files = texts("files", files)

    def check(self, context: TaskCompletionContext) -> TaskCompletionResult:
        missing = [file for file in self._files if not (context.filesystem / file).is_file()]
        empty = [file for file in self._files if file not in missing and not _has_content(context.filesystem / file)]
        wrong = [
            f"{len(files)} required output file(s) {what}: {_named(files)}"
            for files, what in ((missing, "not found"), (empty, "are empty"))
            if files
        ]
        return TaskCompletionResult.incomplete("; ".join(wrong)) if wrong else TaskCompletionResult.ok()


class CommandChecker:
    """A command ends with the exit code 0. It runs without a shell, in the engine's root directory."""

    def __init__(self, argv: Sequence[str], timeout: float = 300) -> None:
        self._argv, self._timeout = texts("argv", argv), number("timeout", timeout, above=True)

    def check(self, context: TaskCompletionContext) -> TaskCompletionResult:
        import subprocess

        try:
            ran = subprocess.run(
                self._argv, cwd=context.filesystem, timeout=self._timeout, capture_output=True, text=True,
                stdin=subprocess.DEVNULL, check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return TaskCompletionResult.incomplete(f"`{' '.join(self._argv)}` has no answer: {error}")
        if ran.returncode == 0:
            return TaskCompletionResult.ok()
        tail = (ran.stdout + ran.stderr)[-2000:].strip()
        return TaskCompletionResult.incomplete(f"`{' '.join(self._argv)}` failed with {ran.returncode}:\n{tail}")


class CompositeChecker:
    """All of them have to be met, or one of them. The first that settles it is the last that is asked."""

    def __init__(self, checkers: Sequence[TaskCompletionChecker], all_must_pass: bool = True) -> None:
        self._checkers = [having("checkers", checker, "check") for checker in several("checkers", checkers)]
        self._all = flag("all_must_pass", all_must_pass)

    def check(self, context: TaskCompletionContext) -> TaskCompletionResult:
        unmet = []
        for checker in self._checkers:
            result = checker.check(context)
            is_complete = result.complete is True
            if is_complete and not self._all:
                return TaskCompletionResult.ok()
            if not is_complete:
                unmet.append(result.feedback or "a check is not met")
                if self._all:
                    break
        if not self._checkers and not self._all:
            unmet.append("there is no check that could be met")
        return TaskCompletionResult.incomplete("\n".join(unmet)) if unmet else TaskCompletionResult.ok()


class FindingsChecker:
    """No finding of that level or above is open in a project's ledger."""

    def __init__(self, ledger: Ledger, below: Level = "HIGH") -> None:
        self._ledger = ledger
        self._below: Level = below

    def check(self, context: TaskCompletionContext) -> TaskCompletionResult:
        plans = self._ledger.recent_verdicts(limit=_PLANS, min_level=self._below)
        if not plans:
            return TaskCompletionResult.ok()
        named = _named([f"{plan['plan_hash']} ({plan['level']})" for plan in plans])
        return TaskCompletionResult.incomplete(f"{len(plans)} plan(s) have open findings: {named}")


class TodosChecker:
    """The agent's own list of things to do is done, where it wrote one."""

    def check(self, context: TaskCompletionContext) -> TaskCompletionResult:
        todos = context.session.get("todos")
        if not todos or not todos["open"]:
            return TaskCompletionResult.ok()
        return TaskCompletionResult.incomplete(f"{todos['open']} item(s) of the list are open: {_named(todos['items'])}")


def configured(given: Any, root: str) -> list[tuple[str, Callable[[dict[str, Any]], tuple[bool, str | None]]]]:
    """One checker or several, as the bridge takes them."""
    checkers = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    named = [having("completion", checker, "check") for checker in checkers]
    return [(f"check {place}", _callable(checker, root)) for place, checker in enumerate(named, 1)]


def _callable(checker: Any, root: str) -> Callable[[dict[str, Any]], tuple[bool, str | None]]:
    def check(fields: dict[str, Any]) -> tuple[bool, str | None]:
        result = checker.check(TaskCompletionContext(fields, root))
        return result.complete is True, result.feedback

    return check


def _named(names: Sequence[str]) -> str:
    """At most three of them: the agent reads it."""
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0
