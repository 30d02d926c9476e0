"""The real OpenAI Agents SDK with its scripted model."""

import asyncio

import pytest

pytest.importorskip("agents")

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from lictor.integrations.openai_agents import govern
from policy import engine

RAN = []
QUIET = RunConfig(tracing_disabled=True)


@pytest.fixture
def run_agent():
    def make(policy, *commands):
        RAN.clear()

        @function_tool
        def bash(command: str) -> str:
            """Runs a command."""
            RAN.append(command)
            return f"ran {command}"

        calls = [function_call("bash", {"command": command}, call_id=f"c{n}") for n, command in enumerate(commands)]
        agent = Agent(name="a", tools=[bash], model=ScriptedModel([calls, [assistant_message("done")]]))
        assert govern(agent, policy) == []
        return agent

    return make


def outputs(result):
    return [str(item.output) for item in result.new_items if item.type == "tool_call_output_item"]


def test_veto_and_pass(run_agent):
    policy = engine()
    result = asyncio.run(Runner.run(run_agent(policy, "ls", "rm x", "broken"), "go", run_config=QUIET))
    told = outputs(result)
    assert RAN == ["ls"] and told[0] == "ran ls"
    assert "it deletes" in told[1] and "the bin" in told[1]
    assert "Blocked by Lictor" in told[2] and "a guard that fails" not in told[2]
    assert policy.session().success_count == 1


@pytest.mark.parametrize("approved", [True, False])
def test_a_question_interrupts_the_run(run_agent, approved):
    policy = engine()
    agent = run_agent(policy, "deploy")

    async def session():
        paused = await Runner.run(agent, "go", run_config=QUIET)
        [item] = paused.interruptions
        state = paused.to_state()
        state.approve(item) if approved else state.reject(item)
        return await Runner.run(agent, state, run_config=QUIET)

    result = asyncio.run(session())
    assert RAN == (["deploy"] if approved else [])
    assert ("ran deploy" in outputs(result)) is approved
    assert policy.session().action_count == 1
