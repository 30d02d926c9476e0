"""The real smolagents with a scripted model."""

import pytest

pytest.importorskip("smolagents")

from conformance import TOOL, Conformance, Seen, policy
from smolagents import CodeAgent, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

from lictor import PolicyError
from lictor.integrations.smolagents import govern


@tool
def bash(command: str) -> str:
    """Runs a command.

    Args:
        command: What to run.
    """
    return TOOL(command)


class Scripted(Model):
    def __init__(self, turns):
        super().__init__()
        self._turns, self._number, self.sent = iter(turns), iter(range(100)), []

    def generate(self, messages, **_):
        self.sent = messages
        turn = next(self._turns)
        calls = [("final_answer", {"answer": turn})] if isinstance(turn, str) else [("bash", {"command": c}) for c in turn]
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[self._call(*call) for call in calls])

    def _call(self, name, arguments):
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        return ChatMessageToolCall(id=f"c{next(self._number)}", type="function", function=function)


class TestSmolagents(Conformance):
    awaits = False

    def run(self, engine, *turns, answer=None):
        seen = Seen()

        def on_ask(call):
            seen.asked.append(call.question)
            return answer

        agent = ToolCallingAgent(tools=[bash], model=Scripted(turns), verbosity_level=0)
        govern(agent, engine, on_ask=on_ask)
        agent.run("go")
        number = 0
        for step in agent.memory.steps:
            for call in getattr(step, "tool_calls", None) or ():
                if call.name == "bash":
                    # The results of a turn are one observation.
                    seen.told[f"c{number}"] = str(step.observations)
                    number += 1
            if getattr(step, "error", None):
                seen.prompts.append(str(step.error))
        return seen


class Coder(Model):
    def __init__(self, *code):
        super().__init__()
        self._code = iter(code)

    def generate(self, messages, **_):
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"<code>\n{next(self._code)}\n</code>")


def test_generated_code_and_the_tools_that_it_calls_are_judged():
    TOOL.ran.clear()
    engine = policy(lambda action: action.kind != "execute_code" or "os" not in action.text("code"))
    agent = CodeAgent(tools=[bash], model=Coder("import os", "bash('rm x')", "bash('ls')", "final_answer('x')"), verbosity_level=0)
    govern(agent, engine)
    assert agent.run("go") == "x" and TOOL.ran == ["ls"]
    errors = [str(step.error) for step in agent.memory.steps if getattr(step, "error", None)]
    assert len(errors) == 2 and "it deletes" in errors[1]


def test_an_agent_of_another_kind_is_refused():
    class Other(ToolCallingAgent.__base__):
        def initialize_system_prompt(self):
            return ""

        def _step_stream(self, memory_step):
            yield from ()

    agent = object.__new__(Other)
    with pytest.raises(PolicyError, match="a `Other` calls its tools"):
        govern(agent, policy())
