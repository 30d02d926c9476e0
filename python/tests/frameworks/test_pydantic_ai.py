"""The real Pydantic AI with a scripted model."""

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from lictor.integrations.pydantic_ai import LictorCapability
from policy import engine

RAN = []


def agent(policy, *commands):
    RAN.clear()

    def model(messages, info):
        if any(isinstance(part, ToolReturnPart) for message in messages for part in message.parts):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(
            parts=[ToolCallPart("bash", {"command": command}, f"c{n}") for n, command in enumerate(commands)]
        )

    made = Agent(
        FunctionModel(model), capabilities=[LictorCapability(policy)], output_type=[str, DeferredToolRequests]
    )

    @made.tool_plain
    def bash(command: str) -> str:
        RAN.append(command)
        return f"ran {command}"

    return made


def returned(result):
    parts = [part for message in result.all_messages() for part in message.parts]
    return {part.tool_call_id: str(part.content) for part in parts if isinstance(part, ToolReturnPart)}


def test_veto_and_pass():
    policy = engine()
    told = returned(agent(policy, "ls", "rm x", "broken").run_sync("go"))
    assert RAN == ["ls"] and told["c0"] == "ran ls"
    assert "it deletes" in told["c1"] and "the bin" in told["c1"]
    assert "Blocked by Lictor" in told["c2"] and "a guard that fails" not in told["c2"]
    assert policy.session().success_count == 1


@pytest.mark.parametrize("approved", [True, False])
def test_a_question_defers_the_call(approved):
    policy = engine()
    governed = agent(policy, "deploy")
    paused = governed.run_sync("go")
    assert isinstance(paused.output, DeferredToolRequests) and RAN == []
    answers = DeferredToolResults(approvals={"c0": True if approved else ToolDenied("not today")})
    result = governed.run_sync(message_history=paused.all_messages(), deferred_tool_results=answers)
    assert RAN == (["deploy"] if approved else [])
    assert (returned(result).get("c0") == "ran deploy") is approved
    assert policy.session().action_count == 1
