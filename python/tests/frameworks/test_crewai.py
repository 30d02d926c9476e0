"""The real CrewAI with a scripted model."""

import os

import pytest

os.environ.update(OTEL_SDK_DISABLED="true", CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false")
pytest.importorskip("crewai")

from conformance import TOOL, Conformance, Seen
from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from lictor.integrations.crewai import govern


@tool("bash")
def bash(command: str) -> str:
    """Runs a command."""
    return TOOL(command)


class Scripted(BaseLLM):
    """Speaks ReAct, one call a turn."""

    def __init__(self, turns):
        super().__init__(model="scripted")
        self._turns = iter([step for turn in turns for step in ([turn] if isinstance(turn, str) else turn)])
        self._answers = {turn for turn in turns if isinstance(turn, str)}
        self._sent = []

    def supports_function_calling(self):
        return False

    def call(self, messages, *_, **__):
        self._sent = messages
        turn = next(self._turns)
        if turn in self._answers:
            return f"Thought: I know.\nFinal Answer: {turn}"
        return f'Thought: run it.\nAction: bash\nAction Input: {{"command": "{turn}"}}'


class TestCrewAI(Conformance):
    tells_alike_apart = False
    awaits = False

    def run(self, engine, *turns, answer=None):
        seen, model = Seen(), Scripted(turns)

        def on_ask(call):
            seen.asked.append(call.question)
            return answer

        governed = govern(engine, on_ask=on_ask)
        agent = Agent(role="r", goal="g", backstory="b", tools=[bash], llm=model, cache=False, max_iter=15)
        task = Task(description="go", expected_output="x", agent=agent, guardrail=governed.guardrail)
        try:
            Crew(agents=[agent], tasks=[task], cache=False).kickoff()
        finally:
            governed.close()
        texts = [str(message["content"]) for message in model._sent]
        observations = [text for text in texts if text.startswith("Thought: run it.") and "Observation:" in text]
        seen.told = {f"c{n}": text.split("Observation:")[-1] for n, text in enumerate(observations)}
        seen.prompts = texts
        return seen
