"""The real Google ADK with a scripted model."""

import asyncio

import pytest

pytest.importorskip("google.adk")

from conformance import SESSION, TOOL, Conformance, Seen, policy
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from lictor.integrations.google_adk import govern


def bash(command: str) -> dict:
    """Runs a command."""
    return {"output": TOOL(command)}


class Scripted(BaseLlm):
    turns: list = []
    number: int = 0

    async def generate_content_async(self, llm_request, stream=False):
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            parts = [types.Part(text=turn)]
        else:
            parts = [
                types.Part(function_call=types.FunctionCall(id=f"c{self.number + n}", name="bash", args={"command": c}))
                for n, c in enumerate(turn)
            ]
            self.number += len(turn)
        yield LlmResponse(content=types.Content(role="model", parts=parts))


class TestGoogleADK(Conformance):
    tells_alike_apart = False
    fails_to = "raise"

    def run(self, engine, *turns, answer=None):
        return asyncio.run(self.arun(engine, turns, answer))

    async def arun(self, engine, turns, answer):
        model = Scripted(model="scripted", turns=list(turns))
        plugin, seen = govern(engine), Seen()
        agent = LlmAgent(name="a", model=model, tools=[bash])
        runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[plugin]))
        await runner.session_service.create_session(app_name="app", user_id="u", session_id=SESSION)
        message = types.Content(role="user", parts=[types.Part(text="go")])
        while message is not None:
            events = plugin.run_async(runner, user_id="u", session_id=SESSION, new_message=message)
            message = None
            async for event in events:
                for part in event.content.parts if event.content else ():
                    if part.function_call and part.function_call.name == "adk_request_confirmation":
                        seen.asked.append(part.function_call.args["toolConfirmation"]["hint"])
                        response = types.FunctionResponse(
                            id=part.function_call.id, name=part.function_call.name, response={"confirmed": answer}
                        )
                        message = types.Content(role="user", parts=[types.Part(function_response=response)])
                    if part.function_response and part.function_response.name == "bash":
                        seen.told[part.function_response.id] = str(part.function_response.response)
        session = await runner.session_service.get_session(app_name="app", user_id="u", session_id=SESSION)
        for event in session.events:
            if event.author == "user":
                seen.prompts += [part.text for part in event.content.parts if part.text]
        return seen


def test_tools_of_the_model_are_listed():
    plugin = govern(policy())
    tools = [types.Tool(google_search=types.GoogleSearch()), types.Tool(function_declarations=[])]
    request = LlmRequest(config=types.GenerateContentConfig(tools=tools))
    asyncio.run(plugin.before_model_callback(callback_context=None, llm_request=request))
    assert plugin.ungoverned == ["google_search"]
