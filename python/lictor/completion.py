"""Completion: the checks before an agent may stop."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lictor.context import SessionState


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


class TaskCompletionContext:
    """What a check may look at."""

    def __init__(self, fields: dict[str, Any], root: str) -> None:
        self._fields, self._root = fields, root

    @property
    def session(self) -> SessionState:
        return SessionState(self._fields["session"])

    @property
    def session_id(self) -> str:
        return str(self._fields["session_id"])

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
        return Path(self._root)

    def recent_tool_calls(self, n: int = 10) -> list[dict[str, Any]]:
        """The newest calls, the newest last, at most 50."""
        calls: list[dict[str, Any]] = self._fields["recent_calls"]
        return calls[-n:] if n > 0 else []


class TaskCompletionChecker(Protocol):
    """One that raises is not met."""

    def check(self, context: TaskCompletionContext) -> TaskCompletionResult: ...


class FileOutputChecker:
    """These files exist and are not empty."""

    def __init__(self, files: Sequence[str | os.PathLike[str]]) -> None:
        self._files = [os.fspath(file) for file in files]

    def check(self, context: TaskCompletionContext) -> TaskCompletionResult:
        missing = [file for file in self._files if not _has_content(context.filesystem / file)]
        if not missing:
            return TaskCompletionResult.ok()
        return TaskCompletionResult.incomplete(f"not there, or empty: {', '.join(missing)}")


class CommandChecker:
    """A command ends with the exit code 0. It runs without a shell, in the engine's root directory."""

    def __init__(self, argv: Sequence[str], timeout: float = 300) -> None:
        self._argv, self._timeout = list(argv), timeout

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
    """All of them have to be met, or one of them."""

    def __init__(self, checkers: Sequence[TaskCompletionChecker], all_must_pass: bool = True) -> None:
        self._checkers, self._all = list(checkers), all_must_pass

    def check(self, context: TaskCompletionContext) -> TaskCompletionResult:
        results = [checker.check(context) for checker in self._checkers]
        unmet = [result.feedback or "a check is not met" for result in results if not result.complete]
        met = not unmet if self._all else len(unmet) < len(results)
        return TaskCompletionResult.ok() if met else TaskCompletionResult.incomplete("\n".join(unmet))


def configured(given: Any, root: str) -> list[tuple[str, Callable[[dict[str, Any]], tuple[bool, str | None]]]]:
    """One checker or several, as the bridge takes them."""
    checkers = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    return [(f"check {number}", _callable(checker, root)) for number, checker in enumerate(checkers, 1)]


def _callable(checker: Any, root: str) -> Callable[[dict[str, Any]], tuple[bool, str | None]]:
    def check(fields: dict[str, Any]) -> tuple[bool, str | None]:
        result = checker.check(TaskCompletionContext(fields, root))
        return result.complete is True, result.feedback

    return check


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0
