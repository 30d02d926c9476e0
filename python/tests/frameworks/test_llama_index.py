"""The real LlamaIndex with a scripted model."""

import asyncio

import pytest

pytest.importorskip("llama_index.core")

from conformance import TOOL, Conformance, Seen
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent

from lictor.integrations.llama_index import govern


async def bash(command: str) -> str:
    """Runs a command."""
    return TOOL(command)


class TestLlamaIndex(Conformance):
    stops = False

    def run(self, engine, *turns, answer=None):
        return asyncio.run(self.arun(engine, turns, answer))

    async def arun(self, engine, turns, answer):
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
        seen = Seen()
        handler = agent.run(user_msg="go")
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                seen.asked.append(event.prefix)
                handler.ctx.send_event(HumanResponseEvent(response="yes" if answer else "no", question=event.question))
            elif isinstance(event, ToolCallResult):
                seen.told[event.tool_id] = event.tool_output.content
        await handler
        return seen
