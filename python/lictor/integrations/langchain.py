"""LangChain and LangGraph: ``create_agent(model, tools, middleware=[govern(engine)])``.

A block becomes a tool message with the status ``error``. A question is an ``interrupt``: resume with ``True``, ``False`` or
``{"approved": …, "reason": …}``. The session is the thread's. Tools that the provider runs pass no middleware: they are listed in
``ungoverned`` and logged. Put it last: what is judged must be what runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.config import get_config
from langgraph.types import interrupt

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Call, Governor
from lictor.project import Project


class LictorMiddleware(AgentMiddleware):  # type: ignore[misc]
    """Judges every tool call of the agent, and whether it may stop."""

    def __init__(self, engine: PolicyEngine | Project, **options: Any) -> None:
        super().__init__()
        self._governor = Governor(engine, **options)
        self.ungoverned = self._governor.ungoverned
        """Tools that the provider runs, as far as the model was offered them."""

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        self._governor.lists(_hosted(request))
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        self._governor.lists(_hosted(request))
        return await handler(request)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        call = self._answered(request, self._governor.before(*_parts(request)))
        if call.refusal is not None:
            return _refused(request, call.refusal)
        return _with_feedback(*self._governor.run(call, lambda: handler(request), _succeeded))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        call = self._answered(request, await self._governor.abefore(*_parts(request)))
        if call.refusal is not None:
            return _refused(request, call.refusal)
        return _with_feedback(*await self._governor.arun(call, lambda: handler(request), _succeeded))

    @hook_config(can_jump_to=["model"])  # type: ignore[untyped-decorator]
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self._missing(state)

    @hook_config(can_jump_to=["model"])  # type: ignore[untyped-decorator]
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self._missing(state)

    def _missing(self, state: Any) -> dict[str, Any] | None:
        last = state["messages"][-1]
        if not isinstance(last, AIMessage) or last.tool_calls:
            return None
        missing = self._governor.stop(str(last.content), _thread())
        return None if missing is None else {"messages": [HumanMessage(missing)], "jump_to": "model"}

    def _answered(self, request: Any, call: Call) -> Call:
        if not call.needs_person:
            return call
        tool_call = request.tool_call
        answer = interrupt({"question": call.question, "tool": tool_call["name"], "args": tool_call["args"]})
        fields = answer if isinstance(answer, dict) else {"approved": answer}
        return self._governor.answered(call, fields.get("approved") is True, fields.get("reason"))


govern = LictorMiddleware


def _parts(request: Any) -> tuple[str, Any, str | None, str | None]:
    tool_call = request.tool_call
    return tool_call["name"], tool_call["args"], tool_call["id"], _thread()


def _hosted(request: Any) -> list[str]:
    """Tools that are only a description for the provider."""
    hosted = [tool for tool in request.tools or () if isinstance(tool, dict)]
    return [str(tool.get("name") or tool.get("type") or "a tool without a name") for tool in hosted]


def _thread() -> str | None:
    try:
        thread = get_config().get("configurable", {}).get("thread_id")
    except RuntimeError:
        return None
    return None if thread is None else str(thread)


def _refused(request: Any, refusal: str) -> ToolMessage:
    tool_call = request.tool_call
    return ToolMessage(content=refusal, tool_call_id=tool_call["id"], name=tool_call["name"], status="error")


def _succeeded(message: Any) -> bool:
    return getattr(message, "status", "success") != "error"


def _with_feedback(message: Any, feedback: str) -> Any:
    if not feedback or not isinstance(getattr(message, "content", None), str):
        return message
    return message.model_copy(update={"content": f"{message.content}\n\n{feedback}"})
