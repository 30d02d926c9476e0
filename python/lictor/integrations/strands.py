"""Strands: ``Agent(model=…, tools=…, hooks=[govern(engine)])``.

A block cancels the tool with the reason. A question interrupts the agent; resume with ``True``, ``"yes"`` or
``{"approved": …, "reason": …}`` as the interrupt's response. It is asked after all other hooks, so that the call that is
judged is the call that runs.
"""

from __future__ import annotations

from typing import Any

from strands.hooks import AfterInvocationEvent, AfterToolCallEvent, BeforeToolCallEvent, HookProvider, HookRegistry
from strands.hooks.registry import HookOrder

from lictor.engine import PolicyEngine
from lictor.integrations._governor import Governor
from lictor.project import Project


class LictorHooks(HookProvider):  # type: ignore[misc]
    """Judges every tool call of the agent, and whether it may stop."""

    def __init__(self, engine: PolicyEngine | Project, **options: Any) -> None:
        self._governor = Governor(engine, **options)

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        registry.add_callback(BeforeToolCallEvent, self._before, order=HookOrder.SDK_LAST)
        registry.add_callback(AfterToolCallEvent, self._after)
        registry.add_callback(AfterInvocationEvent, self._stop)

    async def _before(self, event: BeforeToolCallEvent) -> None:
        tool_use = event.tool_use
        call = await self._governor.abefore(tool_use["name"], tool_use["input"], tool_use["toolUseId"])
        if call.needs_person:
            answer = event.interrupt("lictor", reason=call.question)
            fields: dict[str, Any] = answer if isinstance(answer, dict) else {"approved": _is_yes(answer)}
            call = self._governor.answered(call, fields.get("approved") is True, fields.get("reason"))
        if call.refusal is not None:
            event.cancel_tool = call.refusal
        else:
            self._governor.start(tool_use["toolUseId"], call)

    def _after(self, event: AfterToolCallEvent) -> None:
        outcome = event.exception or event.result.get("status") == "success"
        feedback = self._governor.finish(event.tool_use["toolUseId"], outcome)
        if feedback:
            event.result["content"] = [*event.result["content"], {"text": feedback}]

    def _stop(self, event: AfterInvocationEvent) -> None:
        result = event.result
        if result is None or result.stop_reason != "end_turn":
            return
        missing = self._governor.stop(str(result))
        if missing is not None:
            event.resume = missing


govern = LictorHooks


def _is_yes(answer: object) -> bool:
    return answer is True or (isinstance(answer, str) and answer.strip().lower() in ("y", "yes"))
