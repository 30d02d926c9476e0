"""The agent-hooks contract (``agent-hooks-sdk``), for every host that speaks it: in the Microsoft Agent Framework
``create_agent_hooks_middleware([govern(engine)], resolver=…)``.

A block is a deny with the reason; a question is a deny that the host's approval resolver may lift.
"""

from __future__ import annotations

from typing import Any

from agent_hooks import Decision, Transform, Verdict

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Governor
from lictor.project import Project


class LictorInterceptor:
    """Judges tool calls before they run, and records what came of them."""

    def __init__(self, engine: PolicyEngine | Project, **options: Any) -> None:
        self._governor = Governor(engine, **options)

    async def intercept(self, context: Any, /) -> Verdict:
        """The contract's one method, called at every point."""
        point = context["interception_point"]
        if point == "pre_tool_call":
            return await self._before(context)
        return self._after(context) if point == "post_tool_call" else Verdict.allow()

    async def _before(self, context: Any) -> Verdict:
        tool_call = context["tool_call"]
        call = await self._governor.abefore(
            tool_call["name"], tool_call["args"], tool_call["id"], context["session"].get("id")
        )
        if call.needs_person:
            self._governor.waits(tool_call["id"], call)
            return Verdict.escalate(reason="lictor", message=call.question)
        if call.refusal is not None:
            return Verdict.deny(reason="lictor", message=call.refusal)
        self._governor.start(tool_call["id"], call)
        return Verdict.allow()

    def _after(self, context: Any) -> Verdict:
        call_id, result = context["tool_call"]["id"], context["tool_result"]
        asked = self._governor.waited(call_id)
        if asked is not None:
            # The host runs such a call only after a person has said yes, and tells nobody of a no.
            self._governor.start(call_id, self._governor.answered(asked, True))
        feedback = self._governor.finish(call_id, not result["is_error"])
        if not feedback or not isinstance(context["target"], str):
            return Verdict.allow()
        told = Transform(path="$target", value=f"{context['target']}\n\n{feedback}")
        return Verdict(decision=Decision.TRANSFORM, transform=told)


govern = LictorInterceptor
