"""The built-in guards. Their keywords are the keys of ``governance.yaml``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, ClassVar

from lictor._records import dataclass
from lictor._async import is_async
from lictor._given import function, having, mapping, number, path, several, texts, whole
from lictor.actions import Action, ActionKind
from lictor.context import GovernanceContext
from lictor.errors import PolicyError
from lictor.guards.own import BaseGuard
from lictor.layers import GovernanceLayer
from lictor.verdicts import Verdict

# What a guard without settings of its own stops.
DEFAULT_PATTERNS = (
    r"rm\s+-rf\s+/",
    r"DROP\s+(TABLE|DATABASE|SCHEMA)",
    r"mkfs(\.\w+)?\s",
    r"dd\s+.*of=/dev/[shv]d",
    r":\(\)\s*\{\s*:\|:&\s*\};:",
    r"git\s+push\s+.*(--force|-f)\b",
    r"chmod\s+-R\s+777\s+/",
    r"(curl|wget)[^|;]*\|\s*(ba|z|da)?sh\b",
)


class NativeGuard:
    """A guard of the engine. ``kind`` and ``config`` say which and how."""

    kind: ClassVar[str]

    def __init__(self, config: Mapping[str, Any], root: str | os.PathLike[str] | None = None) -> None:
        self.config = {key: value for key, value in config.items() if value is not None}
        self.root = None if root is None else path("root", root)

    @property
    def name(self) -> str:
        return self.kind

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), self.root))

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in self.config.items())
        return f"{type(self).__name__}({settings})"


class BashSafetyGuard(NativeGuard):
    """Commands by pattern, by program and by what can be read of them."""

    kind = "bash_safety"

    def __init__(
        self,
        blocked_patterns: Sequence[str] = DEFAULT_PATTERNS,
        blocked_prefixes: Sequence[str] = (),
        blocked_programs: Sequence[str] = (),
        allow: Sequence[str] = (),
        unreadable: str | None = "ask",
    ) -> None:
        starting = [rf"^\s*{re.escape(prefix)}" for prefix in texts("blocked_prefixes", blocked_prefixes)]
        super().__init__(
            {
                "blocked_patterns": [*texts("blocked_patterns", blocked_patterns), *starting],
                "blocked_programs": texts("blocked_programs", blocked_programs),
                "allow": texts("allow", allow),
                "unreadable": unreadable,
            }
        )


class FileBoundaryGuard(NativeGuard):
    """Directories that are allowed, and files that are red lines."""

    kind = "file_boundary"

    def __init__(
        self,
        allowed_dirs: Sequence[str | os.PathLike[str]] | None = None,
        red_line_files: Sequence[str | os.PathLike[str]] = (),
        blocked_paths: Sequence[str | os.PathLike[str]] = (),
        red_line_mode: str | None = None,
        root: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(
            {
                "allowed_dirs": None if allowed_dirs is None else texts("allowed_dirs", allowed_dirs),
                "red_line_files": texts("red_line_files", red_line_files),
                "blocked_paths": texts("blocked_paths", blocked_paths),
                "red_line_mode": red_line_mode,
            },
            root,
        )


class LayerIsolationGuard(NativeGuard):
    """Files of one layer of a project are not touched together with those of another."""

    kind = "layer_isolation"

    def __init__(self, layers: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(mapping("layers", layers))


class SandboxGuard(NativeGuard):
    """Code by its imports, calls and attributes."""

    kind = "sandbox"

    def __init__(
        self,
        languages: Sequence[str] | None = None,
        forbid_imports: Sequence[str] | None = None,
        forbid_calls: Sequence[str] | None = None,
        forbid_attributes: Sequence[str] | None = None,
    ) -> None:
        forbid = {"imports": forbid_imports, "calls": forbid_calls, "attributes": forbid_attributes}
        filled = {key: texts(f"forbid_{key}", value) for key, value in forbid.items() if value is not None}
        super().__init__({"languages": None if languages is None else texts("languages", languages), "forbid": filled})


class BudgetGuard(NativeGuard):
    """What a session may spend, exactly, also under concurrent calls."""

    kind = "budget"

    def __init__(
        self,
        max_tasks: int | None = None,
        max_actions: int | None = None,
        max_minutes: int | None = None,
        warn_at: float | None = None,
        *,
        max_tokens: int | None = None,
        max_cost: float | None = None,
    ) -> None:
        """``max_tokens`` and ``max_cost`` count what :class:`~lictor.Outcome` reports as ``usage``."""
        super().__init__(
            {
                "max_tasks": max_tasks,
                "max_actions": max_actions,
                "max_minutes": max_minutes,
                "warn_at": None if warn_at is None else number("warn_at", warn_at),
                "max_tokens": max_tokens,
                "max_cost": None if max_cost is None else number("max_cost", max_cost),
            }
        )


class RateLimitGuard(NativeGuard):
    """Actions a minute."""

    kind = "rate_limit"

    def __init__(self, max_per_minute: int) -> None:
        super().__init__({"max_per_minute": whole("max_per_minute", max_per_minute)})


class RiskGuard(NativeGuard):
    """Asks or blocks when guards before it have raised the risk."""

    kind = "risk"

    def __init__(self, ask_at: float | None = None, block_at: float | None = None) -> None:
        super().__init__({"ask_at": ask_at, "block_at": block_at})


class RulesGuard(NativeGuard):
    """The shipped rules on what commands really do."""

    kind = "rules"

    def __init__(
        self, packs: Sequence[str] = ("recommended",), allow: Sequence[str] = (), opaque: str | None = None
    ) -> None:
        super().__init__({"packs": texts("packs", packs), "allow": texts("allow", allow), "opaque": opaque})


class SecretsGuard(NativeGuard):
    """Secrets that are read, written or sent."""

    kind = "secrets"

    def __init__(
        self, files: Sequence[str] = (), read: str | None = None, write: str | None = None, send: str | None = None
    ) -> None:
        super().__init__({"files": texts("files", files), "read": read, "write": write, "send": send})


class NetworkGuard(NativeGuard):
    """Hosts that may be reached."""

    kind = "network"

    def __init__(
        self,
        allow: Sequence[str] | None = None,
        deny: Sequence[str] = (),
        unknown: str | None = None,
        send: str | None = None,
    ) -> None:
        allowed = None if allow is None else texts("allow", allow)
        super().__init__({"allow": allowed, "deny": texts("deny", deny), "unknown": unknown, "send": send})


class KnownToolsGuard(NativeGuard):
    """Tools that are known, and what happens to others."""

    kind = "known_tools"

    def __init__(self, known: Sequence[str] = (), blocked: Sequence[str] = (), unknown: str | None = None) -> None:
        super().__init__({"known": texts("known", known), "blocked": texts("blocked", blocked), "unknown": unknown})


class SelfProtectionGuard(NativeGuard):
    """Keeps an agent away from what governs it."""

    kind = "self_protection"

    def __init__(self) -> None:
        super().__init__({})


@dataclass(frozen=True)
class IntentRule:
    """What tasks of a type need."""

    task_type: str
    require: Callable[[Action], bool]
    reason: str
    fix: str


class IntentGuard(BaseGuard):
    """Business rules for submitted tasks. Every rule for the task's type is asked and every objection is reported; with any rules,
    a type that no rule names is blocked, as ``intent:`` of a policy file has it."""

    name = "intent"

    def __init__(self, rules: Sequence[IntentRule] = ()) -> None:
        self._rules = tuple(several("rules", rules))
        for rule in self._rules:
            if not isinstance(rule, IntentRule):
                raise PolicyError(f"`{rule!r}` is not a rule", "give objects of `IntentRule`")
            if is_async(function("require", rule.require)):
                # What has to be awaited counts as true.
                raise PolicyError(f"`require` for `{rule.task_type}` is asynchronous", "write a guard with `async def check`")

    def check(self, action: Action) -> Verdict:
        if action.kind != ActionKind.SUBMIT_TASK or not self._rules:
            return Verdict.pass_()
        asked = [rule for rule in self._rules if rule.task_type == action.task_type]
        if not asked:
            known = ", ".join(sorted({rule.task_type for rule in self._rules}))
            return Verdict.block(reason=f"no rule is about tasks of the type `{action.task_type}`", fix=f"submit one of: {known}")
        broken = [rule for rule in asked if not rule.require(action)]
        if not broken:
            return Verdict.pass_()
        return Verdict.block(
            reason="\n".join(rule.reason for rule in broken), fix="\n".join(rule.fix for rule in broken)
        )


class AuditGuard(BaseGuard):
    """Records every action; never blocks. The sink is a callable or a file that takes lines of JSON."""

    governance_layer = GovernanceLayer.OBSERVE
    name = "audit"

    def __init__(self, sink: Callable[[dict[str, Any]], None] | IO[str] | None = None) -> None:
        self.records: list[dict[str, Any]] = []
        self._sink = sink if sink is None or callable(sink) else having("sink", sink, "write")

    def check(self, action: Action, ctx: GovernanceContext) -> Verdict:
        record = {"action": action.to_dict(), "verdicts": ctx._raw.verdicts, "risk": ctx.risk_score, "at": ctx.now}
        if self._sink is None:
            self.records.append(record)
        elif callable(self._sink):
            self._sink(record)
        else:
            import json

            self._sink.write(json.dumps(record) + "\n")
        return Verdict.pass_()
