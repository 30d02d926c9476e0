"""OpenAI Agents: ``govern(agent, engine)`` puts a guardrail on every function tool, also of its MCP servers, of agents that it
hands over to and of agents that are its tools.

A block is the tool's output; a question is an interruption of the run (``state.approve`` or ``state.reject``). The stop gate is in
``govern(agent, engine).run(…)``, to be called instead of ``Runner.run(agent, …)``. Hosted tools run on the provider's side:
they are listed in ``ungoverned``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from agents import Agent, FunctionTool, Handoff, Runner, RunState
from agents.tool_guardrails import ToolGuardrailFunctionOutput, ToolInputGuardrail

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Call, Governor, refused, with_feedback
from lictor.project import Project


class Governed:
    """An agent whose function tools are governed in place."""

    def __init__(self, agent: Agent[Any], engine: PolicyEngine | Project, **options: Any) -> None:
        self._agent, self._governor = agent, Governor(engine, **options)
        _walk(agent, self._governor, set())
        self.ungoverned = self._governor.ungoverned
        """Tools that the provider runs, and handoffs whose agent is not known yet."""

    async def run(self, start: Any, **options: Any) -> Any:
        """``Runner.run`` until the agent may stop: it is run again with what is missing as the next input."""
        self._hear(start)
        result = await Runner.run(self._agent, start, **options)
        while not result.interruptions:
            missing = self._governor.stop(str(result.final_output))
            if missing is None:
                break
            again = [*result.to_input_list(), {"role": "user", "content": missing}]
            result = await Runner.run(result.last_agent, again, **options)
        return result


    def _hear(self, state: Any) -> None:
        """A rejected call does not come back to its tool: the no is recorded here."""
        if not isinstance(state, RunState):
            return
        for item in state.get_interruptions():
            name, call_id = item.tool_name or "", getattr(item.raw_item, "call_id", None)
            if call_id is not None and state._context is not None and state._context.is_tool_approved(name, call_id) is False:
                self._governor.denied(call_id)


govern = Governed


def _walk(agent: Agent[Any], governor: Governor, seen: set[int]) -> None:
    if id(agent) in seen:
        return
    seen.add(id(agent))
    _put(agent.tools, governor, seen)
    listed = agent.get_all_tools

    async def get_all_tools(*args: Any, **options: Any) -> list[Any]:
        # Those of MCP servers are made for each turn, and a program may add others to the agent later.
        tools: list[Any] = await listed(*args, **options)
        _put(tools, governor, seen)
        return tools

    agent.get_all_tools = get_all_tools
    for handoff in agent.handoffs:
        to = _target(handoff)
        if to is None:
            governor.lists([f"handoff {getattr(handoff, 'agent_name', '')}"])
        else:
            _walk(to, governor, seen)


def _put(tools: Iterable[Any], governor: Governor, seen: set[int]) -> None:
    for tool in tools:
        if not isinstance(tool, FunctionTool):
            governor.lists([getattr(tool, "name", type(tool).__name__)])
            continue
        if not isinstance(getattr(tool.on_invoke_tool, "__self__", None), _Governed):
            _Governed(tool, governor)
        inner = getattr(tool, "_agent_instance", None)
        if inner is not None:
            _walk(inner, governor, seen)


def _target(handoff: Any) -> Agent[Any] | None:
    """The agent that takes over, where it is known before the run."""
    known: Any = getattr(handoff, "_agent_ref", None) if isinstance(handoff, Handoff) else lambda: handoff
    found: Agent[Any] | None = None if known is None else known()
    return found


class _Governed:
    """One tool with its guardrail, its question and its record."""

    def __init__(self, tool: FunctionTool, governor: Governor) -> None:
        self._name, self._governor, self._invoke = tool.name, governor, tool.on_invoke_tool
        self._own_approval = tool.needs_approval
        tool.tool_input_guardrails = [*(tool.tool_input_guardrails or []), ToolInputGuardrail(self._guardrail, "lictor")]
        tool.needs_approval = self._needs_approval
        tool.on_invoke_tool = self._run

    async def _judge(self, arguments: str, call_id: str) -> Call:
        try:
            fields = json.loads(arguments or "{}")
        except ValueError:
            fields = None
        if not isinstance(fields, dict):
            return refused("the arguments are not a JSON object")
        return await self._governor.abefore(self._name, fields, call_id)

    async def _needs_approval(self, context: Any, arguments: dict[str, Any], call_id: str) -> bool:
        own = self._own_approval
        wanted = own if isinstance(own, bool) else await own(context, arguments, call_id)
        call = await self._governor.abefore(self._name, arguments, call_id)
        if call.needs_person:
            self._governor.waits(call_id, call)
        return wanted or call.needs_person

    async def _guardrail(self, data: Any) -> ToolGuardrailFunctionOutput:
        context = data.context
        call = await self._judge(context.tool_arguments, context.tool_call_id)
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
        call = await self._judge(arguments, context.tool_call_id)
        if call.needs_person and context.is_tool_approved(tool_name=self._name, call_id=context.tool_call_id) is True:
            call = self._governor.answered(call, True)
        if call.refusal is not None:
            return call.refusal
        return with_feedback(*await self._governor.arun(call, lambda: self._invoke(context, arguments), _succeeded))


def _succeeded(output: Any) -> bool:
    """The SDK turns what a tool raises into these words; there is no other sign of it."""
    return not str(output).startswith("An error occurred while running the tool")
