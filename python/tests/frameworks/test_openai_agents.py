"""The real OpenAI Agents SDK with its scripted model."""

import asyncio

import pytest

pytest.importorskip("agents")

from agents import Agent, RunConfig, WebSearchTool, function_tool, handoff
from agents.testing import ScriptedModel, assistant_message, function_call
from conformance import TOOL, Conformance, Seen, policy

from lictor.integrations.openai_agents import govern

QUIET = RunConfig(tracing_disabled=True)


def make_agent(*turns):
    @function_tool
    def bash(command: str) -> str:
        """Runs a command."""
        return TOOL(command)

    number, steps = 0, []
    for turn in turns:
        if isinstance(turn, str):
            steps.append([assistant_message(turn)])
            continue
        ids = range(number, number := number + len(turn))
        steps.append([function_call("bash", {"command": c}, call_id=f"c{n}") for n, c in zip(ids, turn)])
    return Agent(name="a", tools=[bash], model=ScriptedModel(steps))


class TestOpenAIAgents(Conformance):
    def run(self, engine, *turns, answer=None):
        return asyncio.run(self.arun(engine, make_agent(*turns), answer))

    async def arun(self, engine, agent, answer):
        governed, seen = govern(agent, engine), Seen()
        assert governed.ungoverned == []
        result = await governed.run("go", run_config=QUIET)
        while result.interruptions:
            state = result.to_state()
            for item in result.interruptions:
                seen.asked.append("deploy now?")
                state.approve(item) if answer else state.reject(item)
            result = await governed.run(state, run_config=QUIET)
        items = result.to_input_list()
        seen.told = {item["call_id"]: str(item["output"]) for item in items if item.get("type") == "function_call_output"}
        seen.prompts = [str(item["content"]) for item in items if item.get("role") == "user"]
        return seen


def test_hosted_tools_are_listed():
    agent = make_agent("done")
    agent.tools.append(WebSearchTool())
    assert govern(agent, policy()).ungoverned == ["web_search"]


@pytest.fixture
def ran():
    TOOL.ran.clear()
    return TOOL.ran


def run(governed):
    return asyncio.run(governed.run("go", run_config=QUIET))


def outer(first, **options):
    """An agent that calls another tool or agent once."""
    return Agent(name="outer", model=ScriptedModel([[first], [assistant_message("done")]]), **options)


def test_the_tools_of_an_agent_that_is_a_tool_are_governed(ran):
    inner = make_agent(["ls", "rm x"], "inner done").as_tool("helper", "Helps.")
    governed = govern(outer(function_call("helper", {"input": "go"}, call_id="h0"), tools=[inner]), policy())
    run(governed)
    assert ran == ["ls"] and governed.ungoverned == []


@pytest.mark.parametrize("wrap", [lambda agent: agent, handoff])
def test_the_tools_of_an_agent_that_takes_over_are_governed(ran, wrap):
    inner = make_agent(["ls", "rm x"], "inner done")
    governed = govern(outer(function_call("transfer_to_a", {}, call_id="h0"), handoffs=[wrap(inner)]), policy())
    run(governed)
    assert ran == ["ls"] and governed.ungoverned == []


def test_tools_that_are_added_later_and_those_of_mcp_servers_are_governed(ran):
    agent = make_agent(["ls", "rm x"], "done")
    [tool], agent.tools = agent.tools, []
    governed = govern(agent, policy())

    async def get_mcp_tools(context):
        return [tool]

    agent.get_mcp_tools = get_mcp_tools
    run(governed)
    assert ran == ["ls"]
