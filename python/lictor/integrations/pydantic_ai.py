"""Pydantic AI: ``Agent(model, capabilities=[LictorCapability(engine)])``.

A block is the tool's return value; a question raises ``ApprovalRequired``, so the run ends with ``DeferredToolRequests`` and
goes on with ``DeferredToolResults``.
"""

from __future__ import annotations

from typing import Any

from pydantic_ai import ApprovalRequired
from pydantic_ai.capabilities import AbstractCapability

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Governor
from lictor.project import Project


class LictorCapability(AbstractCapability[Any]):  # type: ignore[misc]
    """Judges every tool call of the agent."""

    def __init__(self, engine: PolicyEngine | Project, **options: Any) -> None:
        self._governor = Governor(engine, **options)

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        judged = self._governor.before(call.tool_name, dict(args), call.tool_call_id)
        if judged.needs_person:
            if not ctx.tool_call_approved:
                raise ApprovalRequired(metadata={"reason": judged.question})
            judged = self._governor.answered(judged, True)
        if judged.refusal is not None:
            return judged.refusal
        try:
            returned = await handler(args)
        except BaseException as error:
            self._governor.after(judged, error)
            raise
        feedback = self._governor.after(judged, True)
        return f"{returned}\n\n{feedback}" if feedback and isinstance(returned, str) else returned
