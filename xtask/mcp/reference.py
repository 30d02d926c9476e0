"""The reference server of the conformance runs: the tools, resources and prompts that the suite asks for, on the official
SDK, over HTTP. What it cannot do fails in the same way with and without Lictor before it."""

import asyncio
import base64
import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    AudioContent,
    Completion,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    PromptMessage,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0").decode()

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

server = MCPServer("reference")


def embedded(uri="test://embedded-resource", text="This is an embedded resource content."):
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mimeType="text/plain", text=text))


@server.tool()
def test_simple_text() -> TextContent:
    """Says something."""
    return TextContent(type="text", text="This is a simple text response for testing.")


@server.tool()
def greet(name: str = "") -> str:
    """Greets somebody."""
    return f"Hello, {name}!"


@server.tool()
def slow_compute(seconds: float = 0, label: str = "") -> str:
    """Computes, at once."""
    return f"computed {label}"


@server.tool()
def test_image_content() -> ImageContent:
    """Shows something."""
    return ImageContent(type="image", data=PNG, mimeType="image/png")


@server.tool()
def test_audio_content() -> AudioContent:
    """Plays something."""
    return AudioContent(type="audio", data=WAV, mimeType="audio/wav")


@server.tool()
def test_embedded_resource() -> EmbeddedResource:
    """Gives a resource."""
    return embedded()


@server.tool()
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Gives one of each."""
    return [
        TextContent(type="text", text="Multiple content types test:"),
        ImageContent(type="image", data=PNG, mimeType="image/png"),
        embedded("test://mixed-content-resource", '{"test":"data","value":123}'),
    ]


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Logs while it works."""
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(line)
        await asyncio.sleep(0.05)
    return "done"


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Says how far it is."""
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100, f"Completed step {progress} of 100")
        await asyncio.sleep(0.05)
    return "done"


@server.tool()
def test_error_handling() -> str:
    """Fails."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    result = await ctx.session.create_message(messages=[message], max_tokens=100)
    return f"LLM response: {result.content.text}"


class Answer(BaseModel):
    username: str
    email: str


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks the client's person."""
    result = await ctx.elicit(message=message, schema=Answer)
    return f"User response: action={result.action}, content={getattr(result, 'data', None)}"


@server.tool()
async def test_logging_tool(ctx: Context) -> str:
    """Logs once."""
    await ctx.info("a line")
    return "done"


@server.tool()
async def test_streaming_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Asks the client's person in a later round."""
    if ctx.input_responses and "user_name" in ctx.input_responses:
        return "Hello"
    params = ElicitRequestFormParams(message="What is your name?", requested_schema=NAME)
    return InputRequiredResult(input_requests={"user_name": ElicitRequest(params=params)}, request_state="first")


@server.tool()
async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Asks the client's person in a later round."""
    return await test_streaming_elicitation(ctx)


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return base64.b64decode(PNG)


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


@server.prompt()
def test_simple_prompt() -> str:
    """A prompt."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[PromptMessage]:
    """A prompt with a resource."""
    return [
        PromptMessage(role="user", content=embedded(resourceUri, "Embedded resource content for testing.")),
        PromptMessage(role="user", content=TextContent(type="text", text="Please process the embedded resource above.")),
    ]


@server.prompt()
def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt with a picture."""
    return [
        PromptMessage(role="user", content=ImageContent(type="image", data=PNG, mimeType="image/png")),
        PromptMessage(role="user", content=TextContent(type="text", text="Please analyze the image above.")),
    ]


@server.completion()
async def complete(ref, argument, context):
    return Completion(values=[], total=0, hasMore=False)


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]), streamable_http_path="/mcp")
