"""Google ADK: ``App(name=…, root_agent=…, plugins=[govern(engine)])``, for the root agent and all below it.

A block is the tool's response ``{"error": …}``. A question asks for a tool confirmation, answered with a function response of
``adk_request_confirmation``. The session is ADK's. Nothing in ADK keeps an agent going, so the stop gate is in
``plugin.run_async(runner, …)``, to be called instead of ``runner.run_async(…)``. Built-in tools of the model (search, code
execution) pass no plugin: they are listed in ``ungoverned`` and logged. A ``before_tool_callback`` of an agent runs after plugins:
arguments that it changes are not judged again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Governor
from lictor.project import Project


class LictorPlugin(BasePlugin):  # type: ignore[misc]
    """Judges every tool call of the app."""

    def __init__(self, engine: PolicyEngine | Project, **options: Any) -> None:
        super().__init__(name="lictor")
        self._governor = Governor(engine, **options)
        self.ungoverned = self._governor.ungoverned
        """Tools of the model itself, as far as it was offered them."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        offered = llm_request.config.tools if llm_request.config is not None else None
        self._governor.lists(name for tool in offered or () for name in _built_in(tool))

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        key = _key(tool_context)
        call = await self._governor.abefore(tool.name, tool_args, key[1], key[0])
        if call.needs_person:
            confirmation = tool_context.tool_confirmation
            if confirmation is None:
                tool_context.request_confirmation(hint=call.question)
                # The run ends here until the answer comes; the model is not told of it.
                tool_context.actions.skip_summarization = True
                return {"error": f"A person has to confirm this: {call.question}"}
            call = self._governor.answered(call, confirmation.confirmed)
        if call.refusal is not None:
            return {"error": call.refusal}
        self._governor.start(key, call)
        return None

    async def after_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any) -> Any:
        failed = isinstance(result, dict) and "error" in result
        feedback = self._governor.finish(_key(tool_context), not failed)
        if not feedback:
            return None
        fields = result if isinstance(result, dict) else {"result": result}
        return {**fields, "feedback": feedback}

    async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception) -> None:
        self._governor.finish(_key(tool_context), error)

    async def run_async(
        self, runner: Any, *, user_id: str, session_id: str, new_message: Any, **options: Any
    ) -> AsyncIterator[Any]:
        """Runs the agent until it may stop."""
        while True:
            said, waits = "", False
            async for event in runner.run_async(
                user_id=user_id, session_id=session_id, new_message=new_message, **options
            ):
                said = _text(event) or said
                waits = waits or bool(event.long_running_tool_ids)
                yield event
            missing = None if waits else self._governor.stop(said, session_id)
            if missing is None:
                return
            new_message = types.Content(role="user", parts=[types.Part(text=missing)])


govern = LictorPlugin


def _key(tool_context: Any) -> tuple[str, str | None]:
    return tool_context.session.id, tool_context.function_call_id


def _built_in(tool: Any) -> list[str]:
    """What a tool has besides functions."""
    fields = tool.model_dump(exclude_none=True) if hasattr(tool, "model_dump") else {}
    return [name for name in fields if name != "function_declarations"]


def _text(event: Any) -> str:
    parts = event.content.parts if event.content is not None else None
    return "".join(part.text or "" for part in parts or ())
