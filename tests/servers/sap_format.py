"""Encodes turns of a script as SAP AI Core's orchestration does, and answers what comes before: token, deployments."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from tests.servers.server_connection import ReceivedRequest
from tests.servers.wire_formats import EVENT_STREAM, OpenAIFormat, Piece, Refusal

from halocline.providers.scripted.script import Fault, Turn

PATH = re.compile(r"/v2/inference/deployments/[^/]+/v2/completion")
TOKEN_PATH = "/oauth/token"
SECRET, TOKEN = "client-secret", "sap-token"
_BEGINNING, _DONE = b"data: ", b"data: [DONE]\n\n"
_encode = msgspec.json.encode


class SapFormat:
    """`/v2/completion` of a deployment: chunks of OpenAI's format, each within an event of the service."""

    content_type = EVENT_STREAM
    too_long = OpenAIFormat.too_long

    def __init__(self) -> None:
        self._chat = OpenAIFormat()

    def stream(self, turn: Turn, model: str, number: int) -> Iterator[Piece]:
        for piece in self._chat.stream(turn, model, number):
            if piece.data == _DONE:
                yield piece
                continue
            chunk = msgspec.json.decode(piece.data.removeprefix(_BEGINNING))
            for choice in chunk.get("choices", ()):
                choice["delta"]["content"] = choice["delta"].get("content") or ""
                if thought := choice["delta"].pop("reasoning_content", None):
                    choice["delta"]["reasoning_content"] = [{"content": thought, "signature": "c2ln"}]
            event = {"request_id": f"r-{number:06}", "intermediate_results": {}, "final_result": chunk}
            yield Piece(_BEGINNING + _encode(event) + b"\n\n", piece.is_delta)

    def refusal(self, fault: Fault | None, message: str) -> Refusal:
        status = self._chat.refusal(fault, message).status
        return Refusal(status, {"error": self._error(status, message)})

    def stream_error(self) -> bytes:
        return _BEGINNING + _encode({"error": self._error(500, "The model had an error.")}) + b"\n\n"

    def _error(self, status: int, message: str) -> dict[str, Any]:
        return {"request_id": "r-1", "code": status, "message": message, "location": "LLM Module"}


def answer_access(request: ReceivedRequest, root: str) -> tuple[int, Any] | None:
    """The status and document for a request about access; None for any other one."""
    path = request.path.partition("?")[0]
    if path == TOKEN_PATH:
        is_known = f"client_secret={SECRET}".encode() in request.raw
        return (200, {"access_token": TOKEN, "expires_in": 43_199}) if is_known else (401, {"error": "unauthorized"})
    if path != "/v2/lm/deployments":
        return None
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        return 401, {"error": {"code": "401", "message": "Unauthorized"}}
    urls = {name: f"{root}/v2/inference/deployments/{name}" for name in ("old", "new")}
    days = {"old": "2026-10-01T00:00:00Z", "new": "2026-11-01T00:00:00Z"}
    return 200, {"count": 2, "resources": [_deployment(name, urls[name], days[name]) for name in urls]}


def _deployment(name: str, url: str, start: str) -> dict[str, Any]:
    return {
        "id": name,
        "deploymentUrl": url,
        "configurationId": "c-1",
        "configurationName": "orchestration",
        "executableId": "orchestration",
        "scenarioId": "orchestration",
        "status": "RUNNING",
        "targetStatus": "RUNNING",
        "createdAt": start,
        "modifiedAt": start,
        "submissionTime": start,
        "startTime": start,
    }


def sap_messages(body: Any) -> list[Any]:
    """All messages of a request, in their order; empty for another vendor's body."""
    config = body.get("config") if isinstance(body, dict) else None
    prompt = config["modules"]["prompt_templating"]["prompt"] if config else {}
    return [*body.get("messages_history", ()), *prompt.get("template", ())] if config else []
