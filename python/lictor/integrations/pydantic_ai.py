"""Pydantic AI: ``Agent(model, capabilities=[govern(engine)])``.

A block is the tool's return value; a question raises ``ApprovalRequired``, so the run ends with ``DeferredToolRequests`` and
goes on with ``DeferredToolResults``. An agent that may not stop yet is sent back with ``ModelRetry``: give it
``retries={"output": …}`` at least as large as the gate's rounds. Tools that the provider runs pass no capability: they are listed
in ``ungoverned`` and logged.
"""

from __future__ import annotations

from typing import Any

from pydantic_ai import ApprovalRequired, ModelRetry
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Governor, with_feedback
from lictor.project import Project


class LictorCapability(AbstractCapability[Any]):  # type: ignore[misc]
    """Judges every tool call of the agent, and whether it may stop."""

    def __init__(self, engine: PolicyEngine | Project, **options: Any) -> None:
        self._governor = Governor(engine, **options)
        self.ungoverned = self._governor.ungoverned
        """Tools that the provider runs, as far as the model was offered them."""

    def get_ordering(self) -> CapabilityOrdering:
        # What is judged must be what runs, whatever other capabilities make of the arguments.
        return CapabilityOrdering(position="innermost")

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        hosted = request_context.model_request_parameters.native_tools
        self._governor.lists(str(getattr(tool, "kind", type(tool).__name__)) for tool in hosted)
        for part in request_context.messages[-1].parts:
            # A call that was denied does not come back to its tool.
            if getattr(part, "outcome", None) == "denied":
                self._governor.denied(part.tool_call_id, str(part.content))
        return request_context

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        judged = await self._governor.abefore(call.tool_name, args, call.tool_call_id)
        if judged.needs_person:
            if not ctx.tool_call_approved:
                self._governor.waits(call.tool_call_id, judged)
                raise ApprovalRequired(metadata={"reason": judged.question})
            judged = self._governor.answered(judged, True)
        if judged.refusal is not None:
            return judged.refusal
        return with_feedback(*await self._governor.arun(judged, lambda: handler(args)))

    async def after_output_process(self, ctx: Any, *, output_context: Any, output: Any) -> Any:
        # A part of the output and a deferred question are no end of the work.
        if not ctx.partial_output and type(output).__name__ != "DeferredToolRequests":
            missing = self._governor.stop(output if isinstance(output, str) else None)
            if missing is not None:
                raise ModelRetry(missing)
        return output


govern = LictorCapability
