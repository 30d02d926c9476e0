"""OpenAI Agents: ``govern(agent, engine)`` puts a guardrail on every function tool, also of agents that it hands over to.

A block is the tool's output; a question is an interruption of the run (``state.approve`` or ``state.reject``). Hosted tools
run on the provider's side: ``govern`` lists them instead of pretending.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from agents import Agent, FunctionTool, Handoff
from agents.tool_guardrails import ToolGuardrailFunctionOutput, ToolInputGuardrail

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Call, Governor
from lictor.project import Project

_log = logging.getLogger("lictor")


def govern(agent: Agent[Any], engine: PolicyEngine | Project, **options: Any) -> list[str]:
    """Governs the agent's tools in place. Gives the names of tools that cannot be governed."""
    governor = Governor(engine, **options)
    ungoverned: list[str] = []
    seen: set[int] = set()
    _walk(agent, governor, ungoverned, seen)
    if ungoverned:
        _log.warning("these tools run elsewhere and are not governed: %s", ", ".join(ungoverned))
    return ungoverned


def _walk(agent: Agent[Any], governor: Governor, ungoverned: list[str], seen: set[int]) -> None:
    if id(agent) in seen:
        return
    seen.add(id(agent))
    for tool in agent.tools:
        if isinstance(tool, FunctionTool):
            if id(tool) not in seen:
                seen.add(id(tool))
                _Governed(tool, governor)
        else:
            ungoverned.append(getattr(tool, "name", type(tool).__name__))
    ungoverned.extend(f"MCP server {getattr(server, 'name', '')}".strip() for server in agent.mcp_servers)
    for handoff in agent.handoffs:
        if isinstance(handoff, Handoff):
            ungoverned.append(f"handoff {handoff.agent_name}")
        else:
            _walk(handoff, governor, ungoverned, seen)


class _Governed:
    """One tool with its guardrail, its question and its record."""

    def __init__(self, tool: FunctionTool, governor: Governor) -> None:
        self._name, self._governor, self._invoke = tool.name, governor, tool.on_invoke_tool
        self._own_approval = tool.needs_approval
        tool.tool_input_guardrails = [*(tool.tool_input_guardrails or []), ToolInputGuardrail(self._guardrail, "lictor")]
        tool.needs_approval = self._needs_approval
        tool.on_invoke_tool = self._run

    def _judge(self, arguments: str, call_id: str) -> Call:
        try:
            fields = json.loads(arguments or "{}")
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            return Call(None, None, "Blocked by Lictor: the arguments are not a JSON object")
        return self._governor.before(self._name, fields, call_id)

    async def _needs_approval(self, context: Any, arguments: dict[str, Any], call_id: str) -> bool:
        own = self._own_approval
        wanted = own if isinstance(own, bool) else await own(context, arguments, call_id)
        return wanted or self._governor.before(self._name, arguments, call_id).needs_person

    def _guardrail(self, data: Any) -> ToolGuardrailFunctionOutput:
        context = data.context
        call = self._judge(context.tool_arguments, context.tool_call_id)
        if call.needs_person:
            # The framework asks before it runs the tool and comes here again only after a yes.
            if context.is_tool_approved(tool_name=self._name, call_id=context.tool_call_id) is True:
                call = self._governor.answered(call, True)
            else:
                return ToolGuardrailFunctionOutput.allow()
        if call.refusal is not None:
            return ToolGuardrailFunctionOutput.reject_content(call.refusal)
        return ToolGuardrailFunctionOutput.allow()

    async def _run(self, context: Any, arguments: str) -> Any:
        call = self._judge(arguments, context.tool_call_id)
        if call.needs_person and context.is_tool_approved(tool_name=self._name, call_id=context.tool_call_id) is True:
            call = self._governor.answered(call, True)
        if call.refusal is not None:
            return call.refusal
        try:
            output = await self._invoke(context, arguments)
        except BaseException as error:
            self._governor.after(call, error)
            raise
        feedback = self._governor.after(call, True)
        return f"{output}\n\n{feedback}" if feedback and isinstance(output, str) else output
