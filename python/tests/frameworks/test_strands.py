"""The real Strands with a scripted model."""

import pytest

pytest.importorskip("strands")

from conformance import TOOL, Conformance, Seen
from strands import Agent, tool
from strands.models import Model

from lictor.integrations.strands import govern


@tool
def bash(command: str) -> str:
    """Runs a command.

    Args:
        command: What to run.
    """
    return TOOL(command)


class Scripted(Model):
    def __init__(self, turns):
        self._turns, self._number = iter(turns), iter(range(100))

    def update_config(self, **_):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *_, **__):
        raise NotImplementedError

    async def stream(self, messages, *_, **__):
        turn = next(self._turns)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(turn, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        for command in turn:
            start = {"toolUse": {"name": "bash", "toolUseId": f"c{next(self._number)}"}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": f'{{"command": "{command}"}}'}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


class TestStrands(Conformance):
    def run(self, engine, *turns, answer=None):
        agent = Agent(model=Scripted(turns), tools=[bash], hooks=[govern(engine)], callback_handler=None)
        seen, result = Seen(), agent("go")
        while result.stop_reason == "interrupt":
            seen.asked += [interrupt.reason for interrupt in result.interrupts]
            result = agent(
                [{"interruptResponse": {"interruptId": one.id, "response": answer}} for one in result.interrupts]
            )
        for message in agent.messages:
            for block in message["content"]:
                if "toolResult" in block:
                    told = block["toolResult"]
                    seen.told[told["toolUseId"]] = "\n".join(part.get("text", "") for part in told["content"])
                elif message["role"] == "user" and "text" in block:
                    seen.prompts.append(block["text"])
        return seen
