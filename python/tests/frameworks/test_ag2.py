"""The real AG2 with its scripted model."""

import asyncio

import pytest

pytest.importorskip("ag2")

from ag2 import Agent
from ag2.events import ToolCallEvent, ToolResultEvent
from ag2.testing import TestConfig
from conformance import TOOL, Conformance, Seen

from lictor.integrations.ag2 import govern


class TestAG2(Conformance):
    fails_to = "raise"

    def run(self, engine, *turns, answer=None):
        return asyncio.run(self.arun(engine, turns, answer))

    async def arun(self, engine, turns, answer):
        seen, number = Seen(), iter(range(100))
        script = [
            turn
            if isinstance(turn, str)
            else [ToolCallEvent(id=f"c{next(number)}", name="bash", arguments=f'{{"command": "{c}"}}') for c in turn]
            for turn in turns
        ]

        async def person(event):
            seen.asked.append(event.content)
            return "yes" if answer else "no"

        async def bash(command: str) -> str:
            """Runs a command."""
            return TOOL(command)

        agent = Agent("a", config=TestConfig(*script), tools=[bash], middleware=[govern(engine)], hitl_hook=person)
        reply = await agent.ask("go")
        for event in await reply.history.get_events():
            if isinstance(event, ToolResultEvent):
                seen.told[event.parent_id] = "\n".join(str(getattr(p, "content", p)) for p in event.result.parts)
            else:
                seen.prompts += [str(getattr(p, "content", "")) for p in getattr(event, "parts", ())]
        return seen
