"""LlamaIndex: ``govern(agent, engine)`` for a ``FunctionAgent``, ``ReActAgent``, ``CodeActAgent`` or ``AgentWorkflow``.

LlamaIndex has no hook for tools, so the one method that calls them is wrapped. A block is a tool output marked as an error. A
question is an ``InputRequiredEvent`` on the stream, answered with ``HumanResponseEvent(response="yes", question=event.question)``;
only ``yes`` lets the call run, and an answer counts for the question that it names.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.tools import ToolOutput
from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent
from workflows.runtime.types.results import WaitingForEvent

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Call, Governor, refused
from lictor.project import Project


def govern(agent: Any, engine: PolicyEngine | Project, **options: Any) -> None:
    """Governs an agent or a workflow of agents in place."""
    governed = _Governed(agent._call_tool, Governor(engine, **options))
    # Agents are models that take no foreign attributes.
    object.__setattr__(agent, "_call_tool", governed.call)


class _Governed:
    def __init__(self, call_tool: Any, governor: Governor) -> None:
        self._call_tool, self._governor = call_tool, governor
        # The step is entered anew when an answer arrives, and is told no call id.
        self._waiting: dict[str, Call] = {}

    async def call(self, ctx: Any, tool: Any, tool_input: dict[str, Any]) -> ToolOutput:
        name = tool.metadata.get_name()
        call = await self._judge(ctx, name, tool_input)
        if call.refusal is not None:
            return ToolOutput(
                content=call.refusal, tool_name=name, raw_input=tool_input, raw_output=call.refusal, is_error=True
            )
        output, feedback = await self._governor.arun(
            call, lambda: self._call_tool(ctx, tool, tool_input), lambda output: not output.is_error
        )
        if feedback:
            output.content = f"{output.content}\n\n{feedback}"
        return output

    async def _judge(self, ctx: Any, name: str, tool_input: dict[str, Any]) -> Call:
        key = f"{name} {sorted(tool_input.items())!r}"
        asked = self._waiting.get(key)
        call = asked or await self._governor.abefore(name, tool_input, None)
        if not call.needs_person:
            return call
        self._waiting[key] = call
        question = InputRequiredEvent(prefix=call.question, question=key)
        try:
            answer = await ctx.wait_for_event(
                HumanResponseEvent, waiter_id=key, waiter_event=question, requirements={"question": key}
            )
        except WaitingForEvent:
            if asked is None:
                raise
            # Another call alike waits for the answer, which can resume only one of them.
            return refused("a person is asked about the same call already", "make such calls one after the other")
        self._waiting.pop(key, None)
        return self._governor.answered(call, str(answer.response).strip().lower() == "yes")
