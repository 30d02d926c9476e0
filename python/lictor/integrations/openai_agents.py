"""OpenAI Agents: ``govern(agent, engine)`` puts a guardrail on every function tool, also of agents that it hands over to.

A block is the tool's output; a question is an interruption of the run (``state.approve`` or ``state.reject``). The stop gate is in
``govern(agent, engine).run(…)``, to be called instead of ``Runner.run(agent, …)``. Hosted tools run on the provider's side:
they are listed in ``ungoverned``.
"""

from __future__ import annotations

import json
from typing import Any

from agents import Agent, FunctionTool, Handoff, Runner
from agents.tool_guardrails import ToolGuardrailFunctionOutput, ToolInputGuardrail

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Call, Governor, refused, report_ungoverned, with_feedback
from lictor.project import Project


class Governed:
    """An agent whose function tools are governed in place."""

    def __init__(self, agent: Agent[Any], engine: PolicyEngine | Project, **options: Any) -> None:
        self._agent, self._governor = agent, Governor(engine, **options)
        names: list[str] = []
        _walk(agent, self._governor, names, set())
        self.ungoverned = report_ungoverned(names)
        """Tools that the provider runs, MCP servers and handoffs whose agent is not known yet."""

    async def run(self, start: Any, **options: Any) -> Any:
        """``Runner.run`` until the agent may stop: it is run again with what is missing as the next input."""
        result = await Runner.run(self._agent, start, **options)
        while not result.interruptions:
            missing = self._governor.stop(str(result.final_output))
            if missing is None:
                break
            again = [*result.to_input_list(), {"role": "user", "content": missing}]
            result = await Runner.run(result.last_agent, again, **options)
        return result


govern = Governed


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
            return refused("the arguments are not a JSON object")
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
        return with_feedback(*await self._governor.arun(call, lambda: self._invoke(context, arguments), _succeeded))


def _succeeded(output: Any) -> bool:
    """The SDK turns what a tool raises into these words; there is no other sign of it."""
    return not str(output).startswith("An error occurred while running the tool")
