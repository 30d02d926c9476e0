"""smolagents: ``govern(agent, engine)``, also for the agents that it manages.

smolagents has no hooks for tools, so the calls themselves are wrapped: of a ``ToolCallingAgent`` each tool call, of a ``CodeAgent``
the code before it runs and each tool that it calls. A block is the tool's result, in code an error that ends it. A question
goes to ``on_ask``, for smolagents cannot wait for a person. The stop gate is one of the checks of the final answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smolagents import CodeAgent, MultiStepAgent, ToolCallingAgent
from smolagents.utils import AgentToolExecutionError

from lictor.actions import ActionKind
from lictor.engine import PolicyEngine
from lictor.errors import PolicyError
from lictor.integrations._governor import Governor, with_feedback
from lictor.project import Project

# The answer itself: the stop gate judges it.
_ANSWER = "final_answer"


def govern(agent: MultiStepAgent, engine: PolicyEngine | Project, **options: Any) -> None:
    """Governs an agent in place."""
    kinds = {"python_interpreter": ActionKind.EXECUTE_CODE, **options.pop("kinds", {})}
    _govern(agent, Governor(engine, kinds=kinds, **options))


def _govern(agent: MultiStepAgent, governor: Governor) -> None:
    if isinstance(agent, CodeAgent):
        agent.python_executor = _Executor(agent.python_executor, governor, agent)
        for name, tool in agent.tools.items():
            if name != _ANSWER:
                tool.forward = _judged(governor, agent, name, tool.forward, list(tool.inputs))
    elif isinstance(agent, ToolCallingAgent):
        agent.execute_tool_call = _execute(governor, agent.execute_tool_call)
    else:
        kind = type(agent).__name__
        raise PolicyError(f"a `{kind}` calls its tools in a way that is not known", "govern a CodeAgent or a ToolCallingAgent")
    agent.final_answer_checks.append(_stop_gate(governor))
    for managed in agent.managed_agents.values():
        _govern(managed, governor)


def _execute(governor: Governor, execute: Callable[..., Any]) -> Callable[..., Any]:
    def run(tool_name: str, arguments: Any) -> Any:
        if tool_name == _ANSWER:
            return execute(tool_name, arguments)
        fields = arguments if isinstance(arguments, dict) else {"input": arguments}
        call = governor.asked(governor.before(tool_name, fields, None))
        if call.refusal is not None:
            # An error would take the results of the other calls of this turn with it.
            return call.refusal
        return with_feedback(*governor.run(call, lambda: execute(tool_name, arguments)))

    return run


def _in_code(governor: Governor, agent: MultiStepAgent, name: str, args: Any, run: Callable[[], Any]) -> Any:
    call = governor.asked(governor.before(name, args, None))
    if call.refusal is not None:
        raise AgentToolExecutionError(call.refusal, agent.logger)
    return with_feedback(*governor.run(call, run))


def _judged(
    governor: Governor, agent: MultiStepAgent, name: str, forward: Callable[..., Any], inputs: list[str]
) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        named = {**dict(zip(inputs, args, strict=False)), **kwargs}
        return _in_code(governor, agent, name, named, lambda: forward(*args, **kwargs))

    return run


class _Executor:
    """The executor of generated code, behind the judgement of that code."""

    def __init__(self, executor: Any, governor: Governor, agent: MultiStepAgent) -> None:
        self._executor, self._governor, self._agent = executor, governor, agent

    def __call__(self, code: str) -> Any:
        args = {"code": code, "language": "python"}
        return _in_code(self._governor, self._agent, "python_interpreter", args, lambda: self._executor(code))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._executor, name)


def _stop_gate(governor: Governor) -> Callable[..., bool]:
    def lictor(answer: Any, memory: Any, agent: Any = None) -> bool:
        missing = governor.stop(str(answer))
        if missing is not None:
            raise ValueError(missing)
        return True

    return lictor
