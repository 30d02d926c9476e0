"""The real LangChain with a scripted model."""

import asyncio

import pytest

pytest.importorskip("langchain")

from conformance import SESSION, TOOL, Conformance, Seen, policy
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from lictor.integrations.langchain import govern


@tool
def bash(command: str) -> str:
    """Runs a command."""
    return TOOL(command)


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **options):
        return self


def script(turns):
    number = 0
    for turn in turns:
        if isinstance(turn, str):
            yield AIMessage(content=turn)
            continue
        ids = range(number, number := number + len(turn))
        yield AIMessage(
            content="",
            tool_calls=[{"name": "bash", "args": {"command": c}, "id": f"c{n}"} for n, c in zip(ids, turn)],
        )


class TestLangChain(Conformance):
    tells_alike_apart = False
    awaits = False
    fails_to = "raise"
    config = {"configurable": {"thread_id": SESSION}}

    def invoke(self, agent, given):
        return agent.invoke(given, self.config)

    def run(self, engine, *turns, answer=None):
        agent = create_agent(
            Model(messages=script(turns)), [bash], middleware=[govern(engine)], checkpointer=InMemorySaver()
        )
        seen = Seen()
        state = self.invoke(agent, {"messages": [("user", "go")]})
        while state.get("__interrupt__"):
            seen.asked += [interrupt.value["question"] for interrupt in state["__interrupt__"]]
            state = self.invoke(agent, Command(resume=answer))
        seen.told = {message.tool_call_id: message.content for message in state["messages"] if message.type == "tool"}
        seen.prompts = [message.content for message in state["messages"] if message.type == "human"]
        return seen


class TestAsynchronousLangChain(TestLangChain):
    awaits = True

    def invoke(self, agent, given):
        return asyncio.run(agent.ainvoke(given, self.config))


def test_tools_of_the_provider_are_listed():
    middleware = govern(policy())
    search = {"type": "web_search_20250305", "name": "web_search"}
    agent = create_agent(Model(messages=script(["done"])), [bash, search, {"type": "code_interpreter"}], middleware=[middleware])
    agent.invoke({"messages": [("user", "go")]})
    assert middleware.ungoverned == ["web_search", "code_interpreter"]


@pytest.mark.parametrize("answer", [{"approved": False, "reason": "friday"}, "yes", 1])
def test_only_a_plain_yes_counts(answer):
    TOOL.ran.clear()
    TestLangChain().run(policy(), ["deploy"], "done", answer=answer)
    assert TOOL.ran == []
