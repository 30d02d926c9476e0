"""LangChain and LangGraph: ``create_agent(model, tools, middleware=[LictorMiddleware(engine)])``.

A block becomes a tool message with the status ``error``. A question is an ``interrupt``: resume with ``True``, ``False`` or
``{"approved": …, "reason": …}``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.types import interrupt

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Call, Governor
from lictor.project import Project


class LictorMiddleware(AgentMiddleware):  # type: ignore[misc]
    """Judges every tool call of the agent."""

    def __init__(self, engine: PolicyEngine | Project, **options: Any) -> None:
        super().__init__()
        self._governor = Governor(engine, **options)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        call = self._judge(request)
        if call.refusal is not None:
            return _refused(request, call.refusal)
        try:
            message = handler(request)
        except BaseException as error:
            self._governor.after(call, error)
            raise
        return _with_feedback(message, self._governor.after(call, _succeeded(message)))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        call = self._judge(request)
        if call.refusal is not None:
            return _refused(request, call.refusal)
        try:
            message = await handler(request)
        except BaseException as error:
            self._governor.after(call, error)
            raise
        return _with_feedback(message, self._governor.after(call, _succeeded(message)))

    def _judge(self, request: Any) -> Call:
        tool_call = request.tool_call
        call = self._governor.before(tool_call["name"], tool_call["args"], tool_call["id"])
        if not call.needs_person:
            return call
        answer = interrupt({"question": call.question, "tool": tool_call["name"], "args": tool_call["args"]})
        fields = answer if isinstance(answer, dict) else {"approved": answer}
        return self._governor.answered(call, fields.get("approved") is True, fields.get("reason"))


def _refused(request: Any, refusal: str) -> ToolMessage:
    tool_call = request.tool_call
    return ToolMessage(content=refusal, tool_call_id=tool_call["id"], name=tool_call["name"], status="error")


def _succeeded(message: Any) -> bool:
    return getattr(message, "status", "success") != "error"


def _with_feedback(message: Any, feedback: str) -> Any:
    if not feedback or not isinstance(getattr(message, "content", None), str):
        return message
    return message.model_copy(update={"content": f"{message.content}\n\n{feedback}"})
