"""The real Microsoft Agent Framework with a scripted client."""

import asyncio

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    create_agent_hooks_middleware,
    tool,
)
from agent_hooks import ApprovalOutcome, ApprovalResolution, Verdict
from conformance import TOOL, Conformance, Seen, policy

from lictor.integrations.agent_framework import govern
from lictor.integrations.agent_hooks import govern as intercept


@tool
def bash(command: str) -> str:
    """Runs a command."""
    return TOOL(command)


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    def __init__(self, turns):
        super().__init__()
        self._turns, self._number, self.sent = iter(turns), iter(range(100)), []

    async def _inner_get_response(self, *, messages, options, stream=False, **_):
        self.sent = list(messages)
        turn = next(self._turns)
        if isinstance(turn, str):
            contents = [Content.from_text(turn)]
        else:
            contents = [
                Content.from_function_call(call_id=f"c{next(self._number)}", name="bash", arguments={"command": command})
                for command in turn
            ]
        return ChatResponse(messages=[Message(role="assistant", contents=contents)])


class TestAgentFramework(Conformance):
    def run(self, engine, *turns, answer=None):
        return asyncio.run(self.arun(engine, turns, answer))

    async def arun(self, engine, turns, answer):
        client, seen = Scripted(turns), Seen()
        agent = Agent(client=client, tools=[bash], middleware=govern(engine, session_id="s1"))
        session = agent.create_session()
        response = await agent.run("go", session=session)
        messages = [*response.messages]
        while response.user_input_requests:
            seen.asked += [str(one.additional_properties["reason"]) for one in response.user_input_requests]
            answers = [one.to_function_approval_response(answer) for one in response.user_input_requests]
            response = await agent.run(Message(role="user", contents=answers), session=session)
            messages += response.messages
        for message in [*client.sent, *messages]:
            for content in message.contents:
                if content.type == "function_result":
                    seen.told[content.call_id] = str(content.result)
                elif content.type == "text" and message.role == "user":
                    seen.prompts.append(content.text)
        return seen


def test_tools_of_the_provider_are_listed():
    middleware = govern(policy())
    agent = Agent(client=Scripted(["done"]), tools=[bash, {"type": "web_search"}], middleware=middleware)
    asyncio.run(agent.run("go"))
    assert middleware[0].ungoverned == ["web_search"]


class TestAgentHooks(TestAgentFramework):
    stops = False
    hears_no = False

    async def arun(self, engine, turns, answer):
        client, seen = Scripted(turns), Seen()

        class Person:
            def resolve(self, request):
                seen.asked.append(request.verdict.message)
                outcome, verdict = ApprovalOutcome.REJECT, Verdict.deny(message="not today")
                if answer:
                    outcome, verdict = ApprovalOutcome.APPROVE, Verdict.allow()
                return ApprovalResolution(outcome, request.context_identity, verdict)

        hooks = create_agent_hooks_middleware([intercept(engine, session_id="s1")], resolver=Person())
        agent = Agent(client=client, tools=[bash], middleware=[hooks])
        await agent.run("go")
        contents = [content for message in client.sent for content in message.contents]
        seen.told = {one.call_id: str(one.result) for one in contents if one.type == "function_result"}
        return seen
