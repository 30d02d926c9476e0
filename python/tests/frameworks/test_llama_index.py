"""The real LlamaIndex with a scripted model."""

import asyncio

import pytest

pytest.importorskip("llama_index.core")

from conformance import TOOL, Conformance, Seen
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent

from lictor import PolicyEngine, Verdict
from lictor.integrations.llama_index import govern


async def bash(command: str) -> str:
    """Runs a command."""
    return TOOL(command)


class TestLlamaIndex(Conformance):
    tells_alike_apart = False
    stops = False

    def run(self, engine, *turns, answer=None, together=1):
        return asyncio.run(self.arun(engine, turns, answer, together))

    async def arun(self, engine, turns, answer, together):
        steps, number = iter(turns), iter(range(100))

        def generate(messages, **_):
            turn = next(steps)
            if isinstance(turn, str):
                return ChatMessage(role="assistant", content=turn)
            calls = [
                ToolCallBlock(tool_call_id=f"c{next(number)}", tool_name="bash", tool_kwargs={"command": command})
                for command in turn
            ]
            return ChatMessage(role="assistant", blocks=calls)

        agent = FunctionAgent(tools=[bash], llm=MockFunctionCallingLLM(response_generator=generate), streaming=False)
        govern(agent, engine)
        seen, waiting = Seen(), []
        handler = agent.run(user_msg="go")
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                seen.asked.append(event.prefix)
                waiting.append(event)
                # The newest question is answered first.
                while len(waiting) and len(seen.asked) >= together:
                    one = waiting.pop()
                    word = answer(one.prefix) if callable(answer) else answer
                    handler.ctx.send_event(HumanResponseEvent(response="yes" if word else "no", question=one.question))
            elif isinstance(event, ToolCallResult):
                seen.told[event.tool_id] = event.tool_output.content
        await handler
        return seen


def asking(action):
    return Verdict.ask(reason=action.text("command"))


@pytest.mark.parametrize("approved", ["a", "b"])
def test_an_answer_counts_for_its_own_question(approved):
    TOOL.ran.clear()
    TestLlamaIndex().run(PolicyEngine(asking), ["a", "b"], "done", answer=lambda question: question == approved, together=2)
    assert TOOL.ran == [approved]


def test_of_two_calls_alike_one_is_asked_about_and_the_other_refused():
    TOOL.ran.clear()
    seen = TestLlamaIndex().run(PolicyEngine(asking), ["a", "a"], "done", answer=True)
    assert TOOL.ran == ["a"] and seen.asked == ["a"]
    assert any("about the same call already" in told for told in seen.told.values())
