"""The real LangChain with a scripted model."""

import asyncio

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from lictor.integrations.langchain import LictorMiddleware
from policy import engine

RAN = []


@tool
def bash(command: str) -> str:
    """Runs a command."""
    RAN.append(command)
    if command == "fail":
        raise ValueError("exit 1")
    return f"ran {command}"


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **options):
        return self


def agent(policy, *commands):
    RAN.clear()
    calls = [{"name": "bash", "args": {"command": command}, "id": f"c{n}"} for n, command in enumerate(commands)]
    script = iter([AIMessage(content="", tool_calls=calls), AIMessage(content="done")])
    return create_agent(
        Model(messages=script), [bash], middleware=[LictorMiddleware(policy)], checkpointer=InMemorySaver()
    )


CONFIG = {"configurable": {"thread_id": "t"}}
START = {"messages": [("user", "go")]}


def results(state):
    return {message.tool_call_id: message for message in state["messages"] if message.type == "tool"}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_veto_and_pass(asynchronous):
    policy = engine()
    governed = agent(policy, "ls", "rm x", "broken")
    state = asyncio.run(governed.ainvoke(START, CONFIG)) if asynchronous else governed.invoke(START, CONFIG)
    told = results(state)
    assert RAN == ["ls"] and told["c0"].content == "ran ls"
    assert told["c1"].status == "error" and "it deletes" in told["c1"].content and "the bin" in told["c1"].content
    assert told["c2"].status == "error" and "a guard that fails" not in told["c2"].content
    session = policy.session()
    assert (session.success_count, session.block_count) == (1, 2)


@pytest.mark.parametrize("answer", [True, False, {"approved": False, "reason": "friday"}, "yes"])
def test_a_question_interrupts_and_the_answer_is_recorded(answer):
    policy = engine()
    governed = agent(policy, "deploy")
    paused = governed.invoke(START, CONFIG)
    assert paused["__interrupt__"][0].value["question"] == "deploy now?" and RAN == []
    told = results(governed.invoke(Command(resume=answer), CONFIG))
    assert RAN == (["deploy"] if answer is True else [])
    assert (told["c0"].content == "ran deploy") is (answer is True)
    assert policy.session().action_count == 1


def test_a_failure_of_the_tool_is_recorded():
    policy = engine()
    with pytest.raises(ValueError):
        agent(policy, "fail").invoke(START, CONFIG)
    assert policy.session().failure_count == 1
