"""Tool policies: what may be called before what, and what is learnt from results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lictor._faults import failed
from lictor._given import mapping, texts
from lictor.actions import Action
from lictor.memory import GuardMemory
from lictor.outcomes import Outcome
from lictor.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from lictor.context import GovernanceContext, SessionState


@dataclass(frozen=True)
class PolicyDecision:
    """What a tool policy says before a call."""

    allowed: bool
    reason: str | None = None
    fix: str | None = None

    @staticmethod
    def allow() -> PolicyDecision:
        return PolicyDecision(True)

    @staticmethod
    def deny(reason: str, fix: str | None = None) -> PolicyDecision:
        return PolicyDecision(False, reason, fix)


@dataclass(frozen=True)
class ToolContext:
    """What a tool policy may look at. ``session`` is there before a call, not when its result is heard."""

    action: Action
    memory: GuardMemory
    session: SessionState | None = None

    @property
    def filesystem(self) -> Path:
        """The directory that the call is made in."""
        from pathlib import Path

        return Path(self.action.cwd)


class ToolPolicy(Protocol):
    """``on_result(tool, params, result, *, context)`` is called after a success and may be left out. State belongs into
    ``context.memory``, not into ``self``."""

    @property
    def name(self) -> str: ...

    def check(self, tool: str, params: Mapping[str, Any], *, context: ToolContext) -> PolicyDecision: ...


class ToolGuard:
    """A tool policy as a guard of the graph."""

    def __init__(self, policy: ToolPolicy) -> None:
        self.policy = policy
        self.name = policy.name
        if getattr(policy, "on_result", None) is not None:
            self.on_result = self._heard

    def check(self, action: Action, ctx: GovernanceContext) -> Verdict:
        context = ToolContext(action, ctx.memory, ctx.session)
        decision = self.policy.check(_tool(action), action.payload, context=context)
        if not isinstance(decision.allowed, bool):
            raise TypeError(f"a decision is allowed or not, and not `{decision.allowed!r}`")
        if decision.allowed:
            return Verdict.pass_()
        return Verdict.block(reason=decision.reason or "", fix=decision.fix or "do first what the policy asks for")

    def _heard(self, action: Action, outcome: Outcome, memory: GuardMemory) -> None:
        # What failed has taught nothing: a policy that does not look at the result must not count it.
        if not outcome.success:
            return
        hear: Any = self.policy.on_result  # type: ignore[attr-defined]
        hear(_tool(action), action.payload, outcome, context=ToolContext(action, memory))


class SequentialDependencyPolicy:
    """A tool may be called after all that it depends on have succeeded in this session."""

    name = "sequence"

    def __init__(self, dependencies: Mapping[str, Iterable[str]], name: str = "sequence") -> None:
        self.name = name
        self._dependencies = {tool: texts(tool, needs) for tool, needs in mapping("dependencies", dependencies).items()}

    def check(self, tool: str, params: Mapping[str, Any], *, context: ToolContext) -> PolicyDecision:
        missing = [need for need in self._dependencies.get(tool, ()) if f"did {need}" not in context.memory]
        if not missing:
            return PolicyDecision.allow()
        needs = ", ".join(f"`{need}`" for need in missing)
        return PolicyDecision.deny(f"`{tool}` requires {needs} first", f"call {needs} and try again")

    def on_result(self, tool: str, params: Mapping[str, Any], result: Outcome, *, context: ToolContext) -> None:
        context.memory[f"did {tool}"] = True


class ReadBeforeWritePolicy:
    """A file that exists is read before it is overwritten."""

    def __init__(
        self,
        read_tools: Iterable[str] = ("read", "read_file"),
        write_tools: Iterable[str] = ("write", "write_file", "edit_file"),
        name: str = "read_before_write",
    ) -> None:
        self.name = name
        self._reads, self._writes = frozenset(texts("read_tools", read_tools)), frozenset(texts("write_tools", write_tools))

    def check(self, tool: str, params: Mapping[str, Any], *, context: ToolContext) -> PolicyDecision:
        path = _path(params, context)
        if tool not in self._writes or path is None or not os.path.exists(path) or f"read {path}" in context.memory:
            return PolicyDecision.allow()
        return PolicyDecision.deny(f"`{path}` has not been read yet", "read it first, then write it")

    def on_result(self, tool: str, params: Mapping[str, Any], result: Outcome, *, context: ToolContext) -> None:
        path = _path(params, context)
        if path is not None and (tool in self._reads or tool in self._writes):
            context.memory[f"read {path}"] = True


def _tool(action: Action) -> str:
    return action.tool or str(getattr(action.kind, "value", action.kind))


def _path(params: Mapping[str, Any], context: ToolContext) -> str | None:
    path = params.get("path", params.get("file_path"))
    return os.path.realpath(context.filesystem / path) if isinstance(path, str) else None


def listener(on_result: Any) -> Any:
    """What the bridge calls after an action. A fault is logged: what is done is done."""

    def heard(action: Action, fields: dict[str, Any], raw: Any) -> None:
        try:
            on_result(action, Outcome.from_dict(fields), GuardMemory(raw))
        except Exception:
            failed("a guard failed to hear of an outcome")

    return heard
