"""MCP servers over HTTP through whole tasks, in all their ways: streamable with and without sessions, and SSE."""

import json
import os

import pytest
from tests.mcp.http import server, serving
from tests.servers.proxy_server import ProxyServer

from halocline.protocol import events as ev
from halocline.protocol.messages import Note, UserMessage
from halocline.providers.scripted.model import Call, Turn

DONE = Turn(text="done")
ADD = Turn(calls=(Call("web__add", {"a": 2, "b": 3}, id="c1"),))


@pytest.fixture
def at(journey):
    """Sets up a server at a URL."""
    journey.env = {"HOME": str(journey.workspace.parent / "person"), "PATH": os.environ["PATH"]}

    def write(url, **more):
        journey.home.mcp.write_text(json.dumps({"mcpServers": {"web": {"url": url, **more}}}))

    return write


def told(journey) -> str:
    notes = [part for message in journey.state.messages if isinstance(message, UserMessage) for part in message.content]
    return "\n".join(part.text for part in notes if isinstance(part, Note) and part.source == "mcp")


@pytest.mark.parametrize("stateless", [True, False])
@pytest.mark.parametrize("given", [{}, {"type": "streamableHttp"}])
async def test_a_tool_is_called_over_streamable_http(journey, at, stateless, given):
    async with serving(server().streamable_http_app(stateless_http=stateless)) as url:
        at(f"{url}/mcp", **given)
        await journey.run(ADD, DONE)
    assert journey.results == ["5"]


@pytest.mark.parametrize("stateless", [True, False])
async def test_tools_that_a_server_gets_later_are_offered_with_the_next_request(journey, at, stateless):
    async with serving(server().streamable_http_app(stateless_http=stateless)) as url:
        at(f"{url}/mcp")
        wait = Turn(calls=(Call("execute_command", {"command": "sleep 1"}, id="c2"),))
        turns = [Turn(calls=(Call(name, {}, id=name),)) for name in ("web__grow", "web__sprout")]
        await journey.run(turns[0], wait, turns[1], DONE)
    assert journey.results[2] == "sprouted"
    assert "The tools of the MCP server web are now: web__add, web__grow, web__sprout." in told(journey)


def answering(app, status, words, to):
    """The same app, with an HTTP error of these words for the requests that `to` picks."""

    async def changed(scope, receive, send):
        if scope["type"] != "http" or not to(scope):
            await app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": words.encode()})

    return changed


@pytest.mark.parametrize("given", [{}, {"type": "sse"}])
@pytest.mark.parametrize("status", [400, 404, 405])
async def test_a_tool_is_called_over_sse_whatever_the_server_says_to_a_post(journey, at, given, status):
    def is_post(scope):
        return scope["method"] == "POST" and scope["path"] == "/sse"

    async with serving(answering(server().sse_app(), status, "Missing sessionId", is_post)) as url:
        at(f"{url}/sse", **given)
        await journey.run(ADD, DONE)
    assert journey.results == ["5"]


async def test_what_a_server_says_to_a_request_that_it_turns_down_is_shown(journey, at):
    async with serving(answering(None, 403, "Access only at localhost", lambda scope: True)) as url:
        at(f"{url}/mcp")
        await journey.run(DONE)
    words = "it answered with HTTP status 403 (Access only at localhost); check its credentials"
    assert words in told(journey)


async def test_what_a_gateway_says_to_a_call_is_its_result(journey, at):
    app = server().streamable_http_app()
    gateway = answering(app, 502, "no upstream", lambda scope: (b"mcp-method", b"tools/call") in scope["headers"])
    async with serving(gateway) as url:
        at(f"{url}/mcp")
        await journey.run(ADD, DONE)
    assert journey.results == ["web/add failed: it answered with HTTP status 502 (no upstream)"]


async def test_headers_are_sent_and_never_told(journey, at):
    seen = []
    app = server().streamable_http_app()

    async def listening(scope, receive, send):
        seen.extend(value for name, value in scope.get("headers", ()) if name == b"x-key")
        await app(scope, receive, send)

    async with serving(listening) as url:
        journey.env["KEY"] = "s3cret-value"
        at(f"{url}/mcp", headers={"X-Key": "${KEY}"})
        await journey.run(ADD, DONE)
    assert journey.results == ["5"]
    assert set(seen) == {b"s3cret-value"}
    kept = [file for file in journey.home.root.rglob("*") if file.is_file() and b"s3cret" in file.read_bytes()]
    assert kept == []


async def test_a_server_that_is_not_there_costs_a_note(journey, at):
    at("http://127.0.0.1:9/mcp", type="streamableHttp")
    await journey.run(DONE)
    assert "The MCP server web is not available" in told(journey)
    assert journey.of(ev.McpOffered) == []


async def test_a_server_that_was_started_anew_and_forgot_its_sessions_is_asked_again(journey, at):
    apps = [server().streamable_http_app(), server().streamable_http_app()]

    async def changing(scope, receive, send):
        await apps[0](scope, receive, send)

    async with serving(apps[1]) as other, serving(changing) as url:
        assert other
        at(f"{url}/mcp", type="streamableHttp", mode="legacy")
        client = journey.client([ADD, DONE, Turn(calls=(Call("web__add", {"a": 1, "b": 1}, id="c2"),)), DONE])
        await journey.open(client)
        await journey.prompt(client)
        apps.reverse()
        await journey.prompt(client)
        await client.close()
    assert journey.results == ["2"]


async def test_a_server_is_reached_through_the_proxy_of_the_settings(journey, at):
    async with serving(server().streamable_http_app()) as url, ProxyServer() as proxy:
        at(f"{url}/mcp", type="streamableHttp")
        await journey.run(ADD, DONE, proxy=f"http://127.0.0.1:{proxy.port}")
        assert proxy.requests
    assert journey.results == ["5"]
