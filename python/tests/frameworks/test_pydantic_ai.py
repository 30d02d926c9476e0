"""The real Pydantic AI with a scripted model."""

import contextlib

import pytest

pytest.importorskip("pydantic_ai")

from conformance import TOOL, Conformance, Seen, policy
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.capabilities import AbstractCapability, NativeTool
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse, RetryFeedbackPart, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.native_tools import WebSearchTool

from lictor.integrations.pydantic_ai import govern


class TestPydanticAI(Conformance):
    fails_to = "raise"

    def run(self, engine, *turns, answer=None):
        steps, number = iter(turns), iter(range(100))

        def model(messages, info):
            turn = next(steps)
            if isinstance(turn, str):
                return ModelResponse(parts=[TextPart(turn)])
            return ModelResponse(parts=[ToolCallPart("bash", {"command": c}, f"c{next(number)}") for c in turn])

        agent = Agent(
            FunctionModel(model), capabilities=[govern(engine)], output_type=[str, DeferredToolRequests], retries=5
        )

        @agent.tool_plain
        def bash(command: str) -> str:
            return TOOL(command)

        seen, result = Seen(), agent.run_sync("go")
        while isinstance(result.output, DeferredToolRequests):
            seen.asked += [str(metadata["reason"]) for metadata in result.output.metadata.values()]
            word = True if answer else ToolDenied("not today")
            answers = DeferredToolResults(approvals={call.tool_call_id: word for call in result.output.approvals})
            result = agent.run_sync(message_history=result.all_messages(), deferred_tool_results=answers)
        parts = [part for message in result.all_messages() for part in message.parts]
        seen.told = {part.tool_call_id: str(part.content) for part in parts if isinstance(part, ToolReturnPart)}
        seen.prompts = [str(part.content) for part in parts if isinstance(part, (RetryFeedbackPart, UserPromptPart))]
        return seen


def test_tools_of_the_provider_are_listed():
    capability = govern(policy())
    agent = Agent(TestModel(call_tools=[], custom_output_text="done"), capabilities=[capability, NativeTool(WebSearchTool())])
    with contextlib.suppress(UserError):
        # The test model has no tools of its own; the request was on its way when it says so.
        agent.run_sync("go")
    assert capability.ungoverned == ["web_search"]


def test_what_other_capabilities_make_of_the_arguments_is_judged():
    class Rewrites(AbstractCapability):
        async def wrap_tool_execute(self, ctx, *, call, tool_def, args, handler):
            return await handler({"command": "rm x"})

    TOOL.ran.clear()
    agent = Agent(TestModel(), capabilities=[govern(policy()), Rewrites()])

    @agent.tool_plain
    def bash(command: str) -> str:
        return TOOL(command)

    agent.run_sync("go")
    assert TOOL.ran == []
