"""SAP AI Core: the way to a deployment, and its format. `tests/conformance/test_sap_judge.py` asks its SDK."""

import json
from typing import Any

import pytest
from tests.conformance.service_keys import service_key
from tests.net.raw_server import serving
from tests.providers.documents import documents
from tests.providers.streams import HELLO, MemoryBlobs, collected, endpoint, message_of, request, text_of
from tests.servers.model_server import ModelServer, Turn
from tests.servers.sap_format import SECRET, TOKEN

from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.messages import AssistantMessage, Text, ToolCall, ToolResult, UserMessage
from halocline.providers.model_list import ModelDirectory
from halocline.providers.sap.request import SapAiCore, shield_marks

LIST = "/v2/lm/deployments?scenarioId=orchestration&status=RUNNING"


def client(key: str, model: str = "gpt-5") -> SapAiCore:
    return SapAiCore(endpoint("sap-ai-core", model, key=key), MemoryBlobs())


def key_for(root: str) -> str:
    return json.dumps({"clientid": "a", "clientsecret": "b", "url": root, "serviceurls": {"AI_API_URL": root}})


async def test_one_token_and_one_look_for_the_newest_deployment_are_for_all_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AICORE_RESOURCE_GROUP", "team")
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
        model = client(service_key(server))
        assert text_of(await collected(model)) + text_of(await collected(model)) == "One.Two."
        await model.close()
    assert [asked.path for asked in server.questions] == ["/oauth/token", LIST]
    for sent in server.requests:
        assert sent.path == "/v2/inference/deployments/new/v2/completion"
        assert (sent.headers["authorization"], sent.headers["ai-resource-group"]) == (f"Bearer {TOKEN}", "team")
        assert SECRET.encode() not in sent.raw


async def test_a_wrong_secret_is_a_key_that_is_not_accepted() -> None:
    async with ModelServer([]) as server:
        with pytest.raises(ModelError, match="did not accept the key") as caught:
            await collected(client(service_key(server, "wrong")))
    assert caught.value.kind is ModelErrorKind.AUTH


@pytest.mark.parametrize("key", ["sk-secret", "{}", '{"clientid": "me"}'])
async def test_what_is_no_service_key_is_said(key: str) -> None:
    with pytest.raises(ModelError, match="no service key") as caught:
        await collected(client(key))
    assert "AICORE_SERVICE_KEY" in caught.value.hint


async def test_a_deployment_on_another_server_gets_no_token() -> None:
    heard = []

    async def listen(reader: Any, writer: Any) -> None:
        heard.append(writer)

    async with serving(listen) as elsewhere:
        rows = {"resources": [{"deploymentUrl": f"{elsewhere}/v2/inference/deployments/x", "startTime": "2026"}]}
        async with documents({"/oauth/token": {"access_token": TOKEN, "expires_in": 60}, LIST: rows}) as server:
            with pytest.raises(ModelError, match="another server"):
                await collected(client(key_for(server.url)))
    assert heard == []


async def test_without_a_deployment_the_resource_group_is_named() -> None:
    given = {"/oauth/token": {"access_token": TOKEN, "expires_in": 60}, LIST: {"count": 0, "resources": []}}
    async with documents(given) as server:
        with pytest.raises(ModelError, match="resource group default"):
            await collected(client(key_for(server.url)))


async def test_the_newest_message_is_the_template_and_the_others_are_the_history() -> None:
    said = AssistantMessage((Text("I look."), ToolCall("a", "read_file", {"path": "x"})))
    async with ModelServer([Turn(text="Well.", expect="forty-two")]) as server:
        model = client(service_key(server), "anthropic--claude-sonnet-5-5")
        await collected(model, request(HELLO, said, ToolResult("a", (Text("forty-two"),)), max_tokens=9))
        await model.close()
    body = server.requests[0].body
    templating = body["config"]["modules"]["prompt_templating"]
    assert [message["role"] for message in body["messages_history"]] == ["system", "user", "assistant"]
    assert templating["prompt"]["template"] == [{"role": "tool", "tool_call_id": "a", "content": "forty-two"}]
    assert templating["model"]["name"] == "anthropic--claude-sonnet-5-5"
    assert templating["model"]["params"] == {"max_tokens": 9}
    assert body["config"]["stream"] == {"enabled": True}


async def test_marks_of_a_template_in_a_text_are_only_text() -> None:
    asked = "What is {{?name}} in jinja?"
    async with ModelServer([Turn(text="Well.")]) as server:
        model = client(service_key(server))
        await collected(model, request(UserMessage((Text(asked),))))
        await model.close()
    body = server.requests[0].body
    (newest,) = body["config"]["modules"]["prompt_templating"]["prompt"]["template"]
    assert (newest["content"], body["placeholder_values"]) == ("{{?text_0}}", {"text_0": asked})


def test_each_part_of_a_message_is_shielded_by_itself() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:x"}}
    parts = [{"type": "text", "text": "{{?a}}"}, image, {"type": "text", "text": "b"}]
    message, values = shield_marks({"role": "user", "content": parts})
    assert message["content"] == [{"type": "text", "text": "{{?text_0}}"}, image, {"type": "text", "text": "b"}]
    assert values == {"text_0": "{{?a}}"}


async def test_reasoning_in_blocks_is_thinking() -> None:
    async with ModelServer([Turn(thinking="Hm.", text="Well.")]) as server:
        model = client(service_key(server))
        message = message_of(await collected(model))
        await model.close()
    assert [type(part).__name__ for part in message.content] == ["Thinking", "Text"]


async def test_a_test_of_the_connection_sends_the_key_to_no_list_of_models() -> None:
    async with ModelServer([]) as server:
        directory = ModelDirectory(endpoint("sap-ai-core", key=service_key(server), base_url=server.url("sap")))
        with pytest.raises(ModelError) as caught:
            await directory.names()
        await directory.close()
    assert (caught.value.status, server.questions) == (404, [])
