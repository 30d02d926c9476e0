"""AG2: ``Agent(…, middleware=[govern(engine)])``.

A block is the tool's result. A question goes to the agent's ``hitl_hook``; only ``yes`` lets the call run. An agent that may not
stop yet takes another turn with the reasons. Tools that the provider runs pass no middleware.
"""

from __future__ import annotations

from typing import Any

from ag2.events import ModelRequest, TextInput, ToolErrorEvent, ToolResultEvent
from ag2.exceptions import HumanInputError
from ag2.middleware import BaseMiddleware, Middleware

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Governor
from lictor.project import Project


class LictorMiddleware(BaseMiddleware):  # type: ignore[misc]
    """Judges every tool call of a turn, and whether the agent may stop."""

    def __init__(self, event: Any, context: Any, governor: Governor) -> None:
        super().__init__(event, context)
        self._governor = governor

    async def on_tool_execution(self, call_next: Any, event: Any, context: Any) -> Any:
        call = await self._governor.abefore(event.name, event.serialized_arguments, event.id)
        if call.needs_person:
            call = self._governor.answered(call, await _is_yes(context, call.question))
        if call.refusal is not None:
            return ToolResultEvent.from_call(event, result=call.refusal)
        result, feedback = await self._governor.arun(
            call, lambda: call_next(event, context), lambda result: not isinstance(result, ToolErrorEvent)
        )
        if feedback and isinstance(result, ToolResultEvent) and not isinstance(result, ToolErrorEvent):
            result.result.parts = [*result.result.parts, TextInput(feedback)]
        return result

    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        response = await call_next(event, context)
        while not response.tool_calls:
            missing = self._governor.stop(response.content)
            if missing is None:
                break
            response = await call_next(ModelRequest([TextInput(missing)]), context)
        return response


def govern(engine: PolicyEngine | Project, **options: Any) -> Middleware:
    """The middleware of an agent."""
    return Middleware(LictorMiddleware, governor=Governor(engine, **options))


async def _is_yes(context: Any, question: str) -> bool:
    try:
        return str(await context.input(question)).strip().lower() == "yes"
    except HumanInputError:
        return False
