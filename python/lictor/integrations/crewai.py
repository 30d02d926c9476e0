"""CrewAI: ``governed = govern(engine)`` before ``crew.kickoff()``; ``governed.close()`` ends it.

Its hooks are the process's, so every crew is governed unless ``crew=`` names one. A block is the tool's result. A question is
put on the console, which is the only way CrewAI has, or to ``on_ask``. The stop gate is a task's guardrail:
``Task(…, guardrail=governed.guardrail)``. CrewAI tells hooks no call ids.
"""

# Annotations are not postponed: CrewAI reads the guardrail's.
from typing import Any

from crewai.hooks import (
    register_after_tool_call_hook,
    register_before_tool_call_hook,
    unregister_after_tool_call_hook,
    unregister_before_tool_call_hook,
)

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Call, Governor, refused, with_feedback
from lictor.project import Project


class Governed:
    """The hooks of one policy. CrewAI swallows exceptions of hooks and runs the tool, so nothing here raises one. It does not
    swallow interruptions."""

    def __init__(self, engine: PolicyEngine | Project, *, crew: Any = None, **options: Any) -> None:
        self._asks_itself = options.get("on_ask") is not None
        self._governor = Governor(engine, **options)
        self._crew = crew
        # CrewAI keeps one dictionary of arguments for a call; it tells the hooks before and after it apart from others.
        self._refused: dict[int, tuple[Any, str]] = {}
        register_before_tool_call_hook(self._before)
        register_after_tool_call_hook(self._after)

    def close(self) -> None:
        """Governs no more calls."""
        unregister_before_tool_call_hook(self._before)
        unregister_after_tool_call_hook(self._after)

    def guardrail(self, output: Any) -> tuple[bool, Any]:
        """Sends the agent back while the task is not complete."""
        missing = self._governor.stop(str(getattr(output, "raw", output)))
        return (True, output) if missing is None else (False, missing)

    def _before(self, context: Any) -> bool | None:
        if self._crew is not None and context.crew is not self._crew:
            return None
        try:
            call = self._governor.before(context.tool_name, context.tool_input, None)
            call = self._governor.asked(call) if self._asks_itself else self._on_console(call, context)
        except Exception as error:
            call = refused(f"this could not be judged ({type(error).__name__})")
        key = id(context.tool_input)
        if call.refusal is not None:
            self._refused[key] = (context.tool_input, call.refusal)
            return False
        self._governor.start(key, call)
        return None

    def _after(self, context: Any) -> str | None:
        key = id(context.tool_input)
        if key in self._refused:
            return self._refused.pop(key)[1]
        feedback = self._governor.finish(key, not _failed(context))
        return str(with_feedback(str(context.tool_result), feedback)) if feedback else None

    def _on_console(self, call: Call, context: Any) -> Call:
        if not call.needs_person:
            return call
        said = context.request_human_input(f"Lictor asks: {call.question}", "Type 'yes' to allow it:")
        return self._governor.answered(call, said.strip().lower() == "yes")


govern = Governed


# CrewAI has no other sign of a tool that raised than these words of its result.
_FAILURES = ("Error executing tool", "I encountered an error while trying to use the tool")


def _failed(context: Any) -> bool:
    return str(context.tool_result).lstrip().startswith(_FAILURES)
