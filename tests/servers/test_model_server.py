import asyncio

import msgspec
import pytest
from tests.servers.model_server import Call, Fault, ModelServer, Turn

from halocline.net.http import HttpClient, fetch_json
from halocline.protocol.messages import Usage

PATHS = {
    "anthropic": "/v1/messages",
    "openai": "/chat/completions",
    "openai-responses": "/responses",
    "gemini": "/models/m:streamGenerateContent?alt=sse",
    "ollama": "/api/chat",
}
TURN = Turn(text="Hello you.", calls=(Call("read_file", {"path": "a"}),), usage=Usage(input=3, output=4), chunk=5)

ANTHROPIC_TYPES = [
    "message_start",
    "ping",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "content_block_start",
    *["content_block_delta"] * 4,
    "content_block_stop",
    "message_delta",
    "message_stop",
]

RESPONSES_TYPES = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.output_item.added",
    *["response.function_call_arguments.delta"] * 3,
    "response.function_call_arguments.done",
    "response.output_item.done",
    "response.completed",
]


async def asked(server: ModelServer, family: str, text: str = "Hi") -> tuple[int, dict[str, str], bytes]:
    client = HttpClient(server.url(family))
    body = msgspec.json.encode({"model": "m", "messages": [{"role": "user", "content": text}]})
    response = await client.post(PATHS[family], {"x-test": "1"}, (body,))
    answer = response.status, response.headers, await response.read(1_000_000)
    await client.close()
    return answer


async def test_anthropic_gets_its_own_sequence_of_events() -> None:
    async with ModelServer([TURN]) as server:
        status, headers, body = await asked(server, "anthropic")
    blocks = body.decode().strip().split("\n\n")
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert [block.split("\n")[0].removeprefix("event: ") for block in blocks] == ANTHROPIC_TYPES
    assert blocks[3] == (
        "event: content_block_delta\n"
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}'
    )
    assert blocks[-1] == 'event: message_stop\ndata: {"type":"message_stop"}'


async def test_openai_gets_its_own_sequence_of_events() -> None:
    async with ModelServer([TURN]) as server:
        _, _, body = await asked(server, "openai")
    payloads = [block.removeprefix("data: ") for block in body.decode().strip().split("\n\n")]
    chunks = [msgspec.json.decode(payload) for payload in payloads[:-1]]
    assert payloads[-1] == "[DONE]"
    assert [chunk["choices"][0]["delta"].get("content") for chunk in chunks[:3]] == ["", "Hello", " you."]
    assert chunks[3]["choices"][0]["delta"]["tool_calls"][0]["function"] == {"name": "read_file", "arguments": ""}
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert (chunks[-1]["choices"], chunks[-1]["usage"]["total_tokens"]) == ([], 7)


async def test_gemini_gets_whole_responses_with_calls_in_one_piece() -> None:
    async with ModelServer([TURN]) as server:
        _, _, body = await asked(server, "gemini")
    responses = [msgspec.json.decode(block.removeprefix("data: ")) for block in body.decode().strip().split("\r\n\r\n")]
    parts = [response["candidates"][0]["content"]["parts"] for response in responses]
    call = {"functionCall": {"name": "read_file", "args": {"path": "a"}}}
    assert parts == [[{"text": "Hello"}], [{"text": " you."}], [call], [{"text": ""}]]
    assert [response["candidates"][0].get("finishReason") for response in responses] == [None, None, None, "STOP"]
    assert (responses[0]["modelVersion"], responses[-1]["usageMetadata"]["totalTokenCount"]) == ("m", 7)


async def test_gemini_tells_of_a_call_that_is_no_json_only_why_it_stopped() -> None:
    async with ModelServer([Turn(calls=(Call("edit", raw='{"path'), Call("list_files")))]) as server:
        _, _, body = await asked(server, "gemini")
    assert body.count(b"functionCall") == 1
    assert b'"finishMessage":"Malformed function call: call:default_api:edit{\\"path"' in body


async def test_responses_have_their_own_sequence_of_numbered_events() -> None:
    async with ModelServer([TURN]) as server:
        _, _, body = await asked(server, "openai-responses")
    blocks = body.decode().strip().split("\n\n")
    payloads = [msgspec.json.decode(block.partition("\ndata: ")[2]) for block in blocks]
    assert [payload["type"] for payload in payloads] == RESPONSES_TYPES
    assert [block.partition("\n")[0] for block in blocks] == [f"event: {type}" for type in RESPONSES_TYPES]
    assert [payload["sequence_number"] for payload in payloads] == list(range(len(RESPONSES_TYPES)))
    message, call = payloads[-1]["response"]["output"]
    assert message["content"][0]["text"] == "Hello you."
    assert (call["call_id"], call["name"], call["arguments"]) == ("call_000001_1", "read_file", '{"path":"a"}')
    assert payloads[-1]["response"]["usage"]["total_tokens"] == 7


async def test_what_came_after_the_last_reply_is_found_among_the_items_of_a_response() -> None:
    items = [
        {"type": "message", "role": "user", "content": "bread"},
        {"type": "function_call", "call_id": "a", "name": "read_file", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "butter"}]},
    ]
    async with ModelServer([Turn(text="x", expect="butter", unexpected="bread")]) as server:
        client = HttpClient(server.url("openai-responses"))
        response = await client.post("/responses", {}, (msgspec.json.encode({"input": items}),))
        assert response.status == 200
        response.close()
        await client.close()


async def test_the_input_of_a_response_may_be_one_plain_text() -> None:
    async with ModelServer([Turn(text="x", expect="butter")]) as server:
        client = HttpClient(server.url("openai-responses"))
        response = await client.post("/responses", {}, (b'{"input":"butter"}',))
        assert response.status == 200
        response.close()
        await client.close()


@pytest.mark.parametrize("family", PATHS)
async def test_the_bytes_are_the_same_however_they_are_cut(family: str) -> None:
    async with ModelServer([TURN]) as whole, ModelServer([TURN], write_size=3) as cut:
        assert (await asked(whole, family))[2] == (await asked(cut, family))[2]


@pytest.mark.parametrize(
    ("family", "fault", "status"),
    [
        ("anthropic", Fault.RATE_LIMIT, 429),
        ("openai", Fault.RATE_LIMIT, 429),
        ("anthropic", Fault.OVERLOADED, 529),
        ("openai", Fault.OVERLOADED, 503),
        ("anthropic", Fault.SERVER, 500),
        ("openai", Fault.AUTH, 401),
        ("gemini", Fault.AUTH, 400),
        ("gemini", Fault.OVERLOADED, 503),
        ("openai-responses", Fault.AUTH, 401),
        ("anthropic", Fault.CONTEXT_EXCEEDED, 400),
    ],
)
async def test_a_fault_is_answered_with_its_status(family: str, fault: Fault, status: int) -> None:
    async with ModelServer([Turn(fault=fault, retry_after=3)]) as server:
        got, headers, body = await asked(server, family)
    assert (got, headers["retry-after"]) == (status, "3")
    assert msgspec.json.decode(body)["error"]["message"]


async def test_what_was_asked_can_be_read() -> None:
    async with ModelServer([TURN]) as server:
        await asked(server, "openai", "Hi there")
    (request,) = server.requests
    assert (request.method, request.path, request.headers["x-test"]) == ("POST", "/v1/chat/completions", "1")
    assert request.body["messages"][0]["content"] == "Hi there"


async def test_an_expectation_that_is_not_met_is_told_to_the_client() -> None:
    async with ModelServer([Turn(text="x", expect="bread"), Turn(text="x", expect="Hi")]) as server:
        status, _, body = await asked(server, "openai")
        assert (status, (await asked(server, "openai"))[0]) == (400, 200)
    assert b"expected 'bread'" in body


async def test_a_script_that_is_over_is_told_to_the_client() -> None:
    async with ModelServer([]) as server:
        status, _, body = await asked(server, "anthropic")
    assert status == 400
    assert b"The script has no more turns" in body


async def test_other_addresses_are_not_found_and_models_are_listed() -> None:
    async with ModelServer([]) as server:
        client = HttpClient(server.url("openai"))
        response = await client.post("/elsewhere", {}, (b"{}",))
        assert response.status == 404
        response.close()
        assert (await fetch_json(server.url("openai") + "/models", 2))["data"][0]["id"] == "scripted"
        await client.close()


async def test_one_connection_carries_many_requests() -> None:
    async with ModelServer([TURN, TURN]) as server:
        client = HttpClient(server.url("openai"))
        for _ in range(2):
            response = await client.post("/chat/completions", {}, (b"{}",))
            await response.read(1_000_000)
        await client.close()
    assert [request.connection for request in server.requests] == [1, 1]
    assert server.disconnects == 0


async def test_a_client_that_leaves_is_noticed() -> None:
    async with ModelServer([Turn(text="Hello you.", fault=Fault.STALL)]) as server:
        client = HttpClient(server.url("anthropic"))
        response = await client.post("/v1/messages", {}, (b"{}",))
        response.close()
        await server.disconnected()


def wire(head: bytes, body: bytes = b'{"model":"m","messages":[]}') -> bytes:
    return b"POST /v1/chat/completions " + head + b"Content-Length: %d\r\n\r\n" % len(body) + body


async def spoken(server: ModelServer, *parts: bytes) -> bytes:
    """All that comes back until the server ends the connection, or has seen our end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for part in parts:
        writer.write(part)
        await writer.drain()
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


async def test_requests_that_come_in_one_piece_are_answered_one_after_another() -> None:
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
        answer = await spoken(server, wire(b"HTTP/1.1\r\n") * 2)
    assert answer.count(b"HTTP/1.1 200") == answer.count(b"\r\n0\r\n\r\n") == 2
    assert answer.index(b"One.") < answer.index(b"Two.")


async def test_a_request_may_come_byte_by_byte() -> None:
    whole = wire(b"HTTP/1.1\r\nX-Api-Key:  k \r\n")
    async with ModelServer([Turn(text="One.")], key="k") as server:
        assert b"One." in await spoken(server, *(whole[at : at + 1] for at in range(len(whole))))


@pytest.mark.parametrize("head", [b"HTTP/1.0\r\n", b"HTTP/1.1\r\nConnection: close\r\n"])
async def test_a_client_of_one_request_is_told_that_the_connection_ends(head: bytes) -> None:
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
        answer = await spoken(server, wire(head))
    assert b"\r\nconnection: close\r\n" in answer
    assert (b"chunked" in answer) is (b"1.1" in head)


@pytest.mark.parametrize("sent", [b"nonsense\r\n\r\n", wire(b"HTTP/1.1\r\n")[:-1], b"POST /v1"])
async def test_what_is_no_whole_request_counts_as_a_client_that_left(sent: bytes) -> None:
    async with ModelServer([Turn(text="One.")]) as server:
        assert await spoken(server, sent) == b""
        assert (server.disconnects, server.requests) == (1, [])
