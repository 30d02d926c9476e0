"""Claude Agent SDK: ``ClaudeAgentOptions`` through ``govern(options, engine)``.

A block is a denied permission with the reason. A question goes to ``can_use_tool``; without it the call is refused. The session
is Claude's. Hooks that fail block the call, which needs a CLI that knows ``on_failure``. An input that ``can_use_tool`` or another
hook changes is judged again: what runs is what was judged.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, PermissionResultAllow, PermissionResultDeny

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Governor
from lictor.outcomes import Outcome
from lictor.project import Project


def govern(options: ClaudeAgentOptions, engine: PolicyEngine | Project, **settings: Any) -> ClaudeAgentOptions:
    """The same options, governed."""
    governed = _Governed(Governor(engine, **settings), options.can_use_tool)
    hooks: dict[Any, list[HookMatcher]] = {event: list(given) for event, given in (options.hooks or {}).items()}
    # Hooks of one event run side by side, each with the input that the model gave.
    changing = hooks.get("PreToolUse", ())
    hooks["PreToolUse"] = [
        dataclasses.replace(given, hooks=[governed.changing(hook) for hook in given.hooks]) for given in changing
    ]
    for event, hook in governed.hooks().items():
        hooks[event] = [*hooks.get(event, ()), HookMatcher(hooks=[hook], on_failure="block")]
    can_use_tool = None if options.can_use_tool is None else governed.can_use_tool
    return dataclasses.replace(options, hooks=hooks, can_use_tool=can_use_tool)


class _Governed:
    def __init__(self, governor: Governor, can_use_tool: Any) -> None:
        self._governor, self._can_use_tool = governor, can_use_tool

    def hooks(self) -> dict[str, Any]:
        return {
            "PreToolUse": self._before,
            "PostToolUse": self._after,
            "PostToolUseFailure": self._failed,
            "Stop": self._stop,
            "SubagentStop": self._stop,
        }

    async def _before(self, event: Any, tool_use_id: str | None, _: Any) -> dict[str, Any]:
        call = await self._governor.abefore(event["tool_name"], event["tool_input"], tool_use_id, event["session_id"])
        if call.needs_person and self._can_use_tool is not None and tool_use_id is not None:
            self._governor.waits(tool_use_id, call)
            return _decision("ask", call.question)
        if call.refusal is not None:
            return _decision("deny", call.refusal)
        self._governor.start(tool_use_id, call)
        return {}

    def changing(self, hook: Any) -> Any:
        """The program's own hook, with the input that it leaves judged."""

        async def judged(event: Any, tool_use_id: str | None, context: Any) -> Any:
            given = await hook(event, tool_use_id, context)
            changed = ((given or {}).get("hookSpecificOutput") or {}).get("updatedInput")
            if changed is None or changed == event["tool_input"]:
                return given
            call = await self._governor.abefore(event["tool_name"], changed, tool_use_id, event["session_id"])
            return given if call.refusal is None else _decision("deny", call.refusal)

        return judged

    async def can_use_tool(self, name: str, args: dict[str, Any], context: Any) -> Any:
        """The program's own callback, with its answer to Lictor's questions on record."""
        key = context.tool_use_id
        call = self._governor.waited(key)
        try:
            answer = await self._can_use_tool(name, args, context)
        except BaseException:
            if call is not None:
                self._governor.answered(call, False)
            raise
        if not isinstance(answer, PermissionResultAllow):
            if call is not None:
                self._governor.answered(call, False, answer.message)
            return answer
        known = call or self._governor.running(key)
        if answer.updated_input is not None and answer.updated_input != args:
            session = None if known is None or known.action is None else known.action.session_id
            known = await self._governor.abefore(name, answer.updated_input, key, session)
        if known is None:
            # A call that no hook of ours saw has not been judged.
            known = await self._governor.abefore(name, args, key)
        known = self._governor.answered(known, True)
        if known.refusal is not None:
            return PermissionResultDeny(message=known.refusal)
        self._governor.start(key, known)
        return answer

    async def _after(self, event: Any, tool_use_id: str | None, _: Any) -> dict[str, Any]:
        return _told("PostToolUse", self._governor.finish(tool_use_id, True))

    async def _failed(self, event: Any, tool_use_id: str | None, _: Any) -> dict[str, Any]:
        outcome = Outcome(success=False, error=str(event.get("error", "")))
        return _told("PostToolUseFailure", self._governor.finish(tool_use_id, outcome))

    async def _stop(self, event: Any, tool_use_id: str | None, _: Any) -> dict[str, Any]:
        missing = self._governor.stop(event.get("last_assistant_message"), event["session_id"])
        return {} if missing is None else {"decision": "block", "reason": missing}


def _decision(decision: str, reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }
    }


def _told(event: str, feedback: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": feedback}} if feedback else {}
