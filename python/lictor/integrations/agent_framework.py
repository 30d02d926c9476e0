"""Microsoft Agent Framework: ``Agent(client=…, tools=…, middleware=govern(engine))``.

A block is the function's result. A question is an approval request (``response.user_input_requests``), answered with
``request.to_function_approval_response(True)``. An agent that may not stop yet is run again with the reasons, unless its answer is
streamed. Put other function middleware before it: what is judged must be what runs. Tools that the provider runs pass no
middleware: they are listed in ``ungoverned`` of each of them and logged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent_framework import (
    AgentContext,
    AgentMiddleware,
    ChatContext,
    ChatMiddleware,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    FunctionTool,
    Message,
    MiddlewareFailure,
)

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Call, Governor
from lictor.project import Project

_Next = Callable[[], Awaitable[None]]


class LictorFunctions(FunctionMiddleware):  # type: ignore[misc]
    """Judges every function call."""

    def __init__(self, governor: Governor) -> None:
        self._governor, self.ungoverned = governor, governor.ungoverned

    async def process(self, context: FunctionInvocationContext, call_next: _Next) -> None:
        try:
            call = await self._judge(context)
        except Exception as error:
            # Other exceptions become a tool's error and the run goes on; this one ends it.
            raise MiddlewareFailure("the call could not be judged") from error
        if call.needs_person:
            self._governor.waits(context.metadata.get("call_id"), call)
            context.result = _question(context, call)
        elif call.refusal is not None:
            context.result = call.refusal
        else:
            _, feedback = await self._governor.arun(call, call_next)
            if feedback:
                context.result = _with_feedback(context.result, feedback)

    async def _judge(self, context: FunctionInvocationContext) -> Call:
        session = context.session.session_id if context.session is not None else None
        call = await self._governor.abefore(
            context.function.name, context.arguments, context.metadata.get("call_id"), session
        )
        approval = context.metadata.get("approval_response")
        if call.needs_person and approval is not None:
            return self._governor.answered(call, approval.approved)
        return call


class LictorStop(AgentMiddleware):  # type: ignore[misc]
    """Runs the agent again while it may not stop."""

    def __init__(self, governor: Governor) -> None:
        self._governor, self.ungoverned = governor, governor.ungoverned

    async def process(self, context: AgentContext, call_next: _Next) -> None:
        for content in (content for message in context.messages for content in message.contents):
            # A call that was rejected does not come back to its function.
            if content.type == "function_approval_response" and content.approved is False:
                self._governor.denied(getattr(content.function_call, "call_id", None))
        await call_next()
        while not context.stream and not getattr(context.result, "user_input_requests", None):
            session = context.session.session_id if context.session is not None else None
            missing = self._governor.stop(getattr(context.result, "text", None), session)
            if missing is None:
                return
            answered = list(getattr(context.result, "messages", ()))
            context.messages = [*context.messages, *answered, Message(role="user", contents=[missing])]
            await call_next()


class LictorTools(ChatMiddleware):  # type: ignore[misc]
    """Lists what the model is offered and no middleware reaches."""

    def __init__(self, governor: Governor) -> None:
        self._governor, self.ungoverned = governor, governor.ungoverned

    async def process(self, context: ChatContext, call_next: _Next) -> None:
        offered = (context.options or {}).get("tools") or ()
        self._governor.lists(_name(tool) for tool in offered if not isinstance(tool, FunctionTool))
        await call_next()


def govern(engine: PolicyEngine | Project, **options: Any) -> list[Any]:
    """The middleware of an agent."""
    governor = Governor(engine, **options)
    return [LictorStop(governor), LictorTools(governor), LictorFunctions(governor)]


def _name(tool: Any) -> str:
    fields = tool if isinstance(tool, dict) else vars(tool)
    return str(fields.get("name") or fields.get("type") or type(tool).__name__)


def _question(context: FunctionInvocationContext, call: Call) -> Content:
    call_id = context.metadata.get("call_id")
    occurrence = context.metadata.get("function_call_occurrence_id") or call_id
    arguments = context.arguments
    fields = arguments.model_dump() if hasattr(arguments, "model_dump") else dict(arguments)
    wanted = Content.from_function_call(call_id=call_id, name=context.function.name, arguments=fields, id=occurrence)
    return Content.from_function_approval_request(
        id=occurrence, function_call=wanted, additional_properties={"reason": call.question}
    )


def _with_feedback(result: Any, feedback: str) -> Any:
    if isinstance(result, str):
        return f"{result}\n\n{feedback}"
    return [*result, Content.from_text(feedback)] if isinstance(result, list) else result
