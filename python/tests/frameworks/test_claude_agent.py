"""The real Claude Agent SDK with its bundled program, against a scripted Messages API on the loopback interface."""

import asyncio
import http.server
import json
import threading

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    create_sdk_mcp_server,
    tool,
)
from conformance import SESSION, TOOL, Conformance, FailingEngine, Seen, policy

from lictor.integrations.claude_agent import govern

NAME = "mcp__kit__bash"


@tool("bash", "Runs a command.", {"command": str})
async def bash(args):
    return {"content": [{"type": "text", "text": TOOL(args["command"])}]}


class Script:
    """What the model does, and what it was sent last."""

    def __init__(self, turns):
        self._turns, self._number, self.sent = iter(turns), iter(range(100)), []

    def blocks(self, request):
        self.sent = request["messages"]
        turn = next(self._turns, "nothing left")
        if isinstance(turn, str):
            return [{"type": "text", "text": turn}], "end_turn"
        calls = [
            {"type": "tool_use", "id": f"c{next(self._number)}", "name": NAME, "input": {"command": command}}
            for command in turn
        ]
        return calls, "tool_use"


def events(blocks, stop):
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "scripted", "content": [], "usage": usage}
    yield "message_start", {"message": message | {"stop_reason": None, "stop_sequence": None}}
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            start, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield "content_block_start", {"index": index, "content_block": start}
        yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    yield "message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
    yield "message_stop", {}


class Api(http.server.ThreadingHTTPServer):
    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        # The program asks for other things too, such as a title; only the agent's own turns have tools.
        own = self.path.startswith("/v1/messages") and "count_tokens" not in self.path and request.get("tools")
        blocks, stop = self.server.script.blocks(request) if own else ([{"type": "text", "text": "x"}], "end_turn")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for name, data in events(blocks, stop):
            self.wfile.write(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode())


class TestClaudeAgent(Conformance):
    def run(self, engine, *turns, answer=None, **options):
        return asyncio.run(self.arun(engine, turns, answer, **options))

    async def arun(self, engine, turns, answer, changed=None, hooks=None):
        script, seen = Script(turns), Seen()
        api = Api(script)

        async def can_use_tool(name, args, context):
            if context.decision_reason is None:
                return PermissionResultAllow(updated_input=changed)
            seen.asked.append(context.decision_reason)
            return PermissionResultAllow() if answer else PermissionResultDeny(message="not today")

        options = ClaudeAgentOptions(
            mcp_servers={"kit": create_sdk_mcp_server("kit", tools=[bash])},
            can_use_tool=can_use_tool,
            setting_sources=[],
            hooks=hooks,
            env={
                "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{api.server_port}",
                "ANTHROPIC_API_KEY": "scripted",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            },
        )
        governed = govern(options, engine, session_id=SESSION, kinds={NAME: "bash"})
        async with ClaudeSDKClient(governed) as client:
            await client.query("go")
            async for _ in client.receive_response():
                pass
        api.shutdown()
        for message in script.sent:
            content = message["content"]
            for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if block["type"] == "tool_result":
                    seen.told[block["tool_use_id"]] = text_of(block["content"])
                elif block["type"] == "text" and message["role"] != "assistant":
                    seen.prompts.append(block["text"])
        # What a hook adds stands beside the results.
        beside = "\n".join(prompt for prompt in seen.prompts if "PostToolUse" in prompt)
        seen.told = {call: f"{told}\n{beside}" for call, told in seen.told.items()}
        return seen


class TestWhatRunsIsWhatWasJudged:
    @pytest.fixture(autouse=True)
    def clean(self, tmp_path, monkeypatch):
        TOOL.ran.clear()
        monkeypatch.chdir(tmp_path)

    @pytest.mark.parametrize(("command", "ran"), [("rm x", []), ("pwd", ["pwd"])])
    def test_an_input_that_the_program_changes_is_judged_again(self, command, ran):
        TestClaudeAgent().run(policy(), ["ls"], "done", changed={"command": command})
        assert TOOL.ran == ran

    @pytest.mark.parametrize(("command", "ran"), [("rm x", []), ("pwd", ["pwd"])])
    def test_an_input_that_another_hook_changes_is_judged_again(self, command, ran):
        async def rewrite(event, tool_use_id, context):
            changed = {"permissionDecision": "allow", "updatedInput": {"command": command}}
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **changed}}

        TestClaudeAgent().run(policy(), ["ls"], "done", hooks={"PreToolUse": [HookMatcher(hooks=[rewrite])]})
        assert TOOL.ran == ran

    def test_a_yes_that_cannot_be_recorded_lets_nothing_run(self, monkeypatch):
        engine = policy()
        monkeypatch.setattr(engine, "resolve", FailingEngine().resolve)
        seen = TestClaudeAgent().run(engine, ["deploy"], "done", answer=True)
        assert len(seen.asked) == 1 and TOOL.ran == []


def text_of(content):
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
