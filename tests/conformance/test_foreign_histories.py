"""Histories that every family made, sent to every server: each gets what it accepts, by rules and its vendor's types.

The rules are those that servers state when they refuse a request; the sources stand beside them.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from tests.conformance.sdks import PICTURE
from tests.conformance.test_model_port import FAMILIES
from tests.conformance.test_request_judges import JUDGES, MODELS
from tests.providers.markup import TOOLS
from tests.providers.streams import HELLO, MemoryBlobs, collected, endpoint, message_of, request
from tests.servers.model_server import Call, ModelServer, Turn

from halocline.protocol.messages import (
    AssistantMessage,
    Image,
    Message,
    Note,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from halocline.providers.endpoint import Endpoint
from halocline.providers.text_tools.model import TextProtocol

pytestmark = pytest.mark.slow
MARKED = "read_file<|channel|>commentary"


@dataclass(frozen=True)
class Maker:
    """A server that made a part of a history: how it names tools, and the ids of its calls."""

    family: str
    provider: str = ""
    model: str = "m"
    name: str = "read_file"
    ids: tuple[str, ...] = ("call_1", "call_2", "call_3", "call_4")

    @property
    def provider_name(self) -> str:
        return self.provider or self.family


MAKERS = {
    "anthropic": Maker("anthropic", ids=("toolu_01", "toolu_02", "toolu_03", "toolu_04")),
    "openai-responses": Maker("openai-responses", model="gpt-5.6", ids=tuple(f"call_{n}{'x' * 70}" for n in "abcd")),
    "gemini": Maker("gemini", model="gemini-3.8-flash", ids=("", "", "", "")),
    "ollama": Maker("ollama", ids=("", "", "", "")),
    "azure-chat": Maker("azure-chat"),
    "kimi": Maker("openai", "moonshotai", "kimi-k2.5", ids=tuple(f"functions.read_file:{n}" for n in range(4))),
    "gpt-oss": Maker("openai", "llamacpp", "gpt-oss-20b", MARKED),
    "deepseek": Maker("openai", "deepseek", "deepseek-v4-pro", ids=tuple(f"call_00_{n}" for n in "abcd")),
    "mistral": Maker("openai", "mistral", "mistral-medium", ids=tuple(f"abcdefgh{n}" for n in range(4))),
    "litellm": Maker("openai", "litellm", "gemini", ids=tuple(f"call_{n}__thought__{'QQ==' * 30}" for n in range(4))),
}


@dataclass(frozen=True)
class Server:
    """A server that a history is sent to, and what it accepts."""

    family: str
    provider: str = ""
    model: str = ""
    ids: str = r"[a-zA-Z0-9_-]{1,64}"
    in_turn: bool = True
    results_then_reply: bool = False
    required: Mapping[str, str] = field(default_factory=dict)
    """Fields of replies, and a pattern of their values."""

    @property
    def provider_name(self) -> str:
        return self.provider or self.family


ANY_ID = r".{1,64}"
FORTY = r".{1,40}"  # "string too long. Expected a string with maximum length 40": api.openai.com
NINE = r"[a-zA-Z0-9]{9}"  # "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9.": api.mistral.ai
SERVERS = {
    "anthropic": Server("anthropic"),  # "String should match pattern '^[a-zA-Z0-9_-]+$'": api.anthropic.com
    "openai-responses": Server("openai-responses", model="gpt-5.6", ids=ANY_ID),
    "gemini": Server("gemini", model="gemini-3.8-flash", ids=r".+"),
    "ollama": Server("ollama", ids=r".+"),
    # The library makes a message of its own of a result's picture.
    "azure-chat": Server("azure-chat", ids=ANY_ID, in_turn=False),
    "azure-responses": Server("azure-responses", ids=ANY_ID),
    "openai": Server("openai", ids=FORTY),
    "claude behind a gateway": Server("openai", "openrouter", "anthropic/claude-opus-5"),
    "groq": Server("openai", "groq", ids=FORTY),
    # "The `reasoning_content` in the thinking mode must be passed back to the API.": api.deepseek.com
    "deepseek": Server("openai", "deepseek", "deepseek-v4-flash", FORTY, required={"reasoning_content": r"(?s).*"}),
    # "reasoning_content is missing in assistant tool call message at index 2", also for "": api.moonshot.ai
    "kimi": Server("openai", "moonshotai", "kimi-k3", r".+", required={"reasoning_content": r"(?s).+"}),
    # "Unexpected role 'user' after role 'tool'": api.mistral.ai, and the templates of its models
    "mistral": Server("openai", "mistral", "mistral-large", NINE, results_then_reply=True),
    "devstral in vLLM": Server("openai", "vllm", "mistralai/Devstral-Small", NINE, results_then_reply=True),
    # "Conversation roles must alternate user/assistant/user/assistant/...": templates of Gemma
    "gemma in llama.cpp": Server("openai", "llamacpp", "gemma-3-27b", FORTY),
}
EXTRAS = ("reasoning_content", "reasoning")
"""Fields that the vendor's own types do not have."""


@dataclass
class Said:
    """One message as a server reads it."""

    role: str
    calls: list[tuple[str, str]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)


def heard(body: dict[str, Any]) -> list[Said]:
    """The messages of a request, whatever its family."""
    if "contents" in body:
        return [_gemini(content) for content in body["contents"]]
    if "input" in body:
        return [_item(item) for item in body["input"]]
    return [_message(message) for message in body["messages"]]


def _gemini(content: dict[str, Any]) -> Said:
    calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    answers = [part["functionResponse"]["id"] for part in content["parts"] if "functionResponse" in part]
    role = "tool" if answers else content["role"]
    return Said(role, [(call["id"], call["name"]) for call in calls], answers, content)


def _item(item: dict[str, Any]) -> Said:
    match item.get("type"):
        case "function_call":
            return Said("assistant", [(item["call_id"], item["name"])], fields=item)
        case "function_call_output":
            return Said("tool", answers=[item["call_id"]], fields=item)
        case kind:
            return Said(item.get("role", str(kind)), fields=item)


def _message(message: dict[str, Any]) -> Said:
    if message["role"] == "tool":
        return Said("tool", answers=[message["tool_call_id"]], fields=message)
    content = message.get("content")
    blocks = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    calls = [(call.get("id"), call["function"]["name"]) for call in message.get("tool_calls") or ()]
    calls += [(block["id"], block["name"]) for block in blocks if block["type"] == "tool_use"]
    answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    return Said(message["role"], calls, answers, message)


def broken_rules(body: dict[str, Any], server: Server) -> list[str]:
    """What this server would refuse a request for."""
    turns = [turn for turn in heard(body) if turn.role != "system"]
    broken: list[str] = []
    open_calls: list[str] = []
    for turn in turns:
        ids = [id for id, _ in turn.calls] + turn.answers
        broken += [f"id {id!r}" for id in ids if not re.fullmatch(server.ids, id)]
        broken += [
            f"name {name!r}" for _, name in turn.calls if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", name)
        ]
        if turn.role == "assistant" and server.required:
            values = {name: turn.fields.get(name) for name in server.required}
            broken += [
                f"{name} is {value!r}"
                for name, value in values.items()
                if not isinstance(value, str) or not re.fullmatch(server.required[name], value)
            ]
        broken += [f"answer to {id!r}" for id in turn.answers if id not in open_calls]
        if open_calls and not turn.answers and turn.role not in ("assistant", "model", "reasoning"):
            broken.append(f"calls without answers: {open_calls}")
        open_calls = [id for id in open_calls if id not in turn.answers] + [id for id, _ in turn.calls]
    if open_calls:
        broken.append(f"calls without answers: {open_calls}")
    for one, other in pairwise(turns):
        if one.role == other.role and one.role != "tool" and server.in_turn and "input" not in body:
            broken.append(f"two of {one.role} in a row")
        if server.results_then_reply and (one.role, other.role) == ("tool", "user"):
            broken.append("a prompt behind results")
    if turns[0].role != "user" or turns[-1].role in ("assistant", "model"):
        broken.append("begins or ends with a reply")
    return broken


TURNS = (
    Turn(thinking="I look.", text="Looking.", calls=2 * (Call("read_file", {"path": "a"}),)),
    Turn(text="", calls=2 * (Call("read_file", {"path": "b"}),)),
    Turn(thinking="So it is.", text="It says x."),
)


async def made_by(maker: Maker) -> Sequence[AssistantMessage]:
    """The replies of a server, as its reader understands them: two with two calls each, and an answer."""
    ids = iter(maker.ids)
    turns = [
        Turn(
            thinking=turn.thinking,
            text=turn.text,
            calls=tuple(Call(maker.name, call.arguments, id=next(ids)) for call in turn.calls),
        )
        for turn in TURNS
    ]
    async with ModelServer(turns) as server:
        at = endpoint(maker.provider_name, maker.model, server.url(maker.family))
        model = FAMILIES[maker.family](at, MemoryBlobs())
        history: list[Message] = [HELLO]
        for _ in turns:
            history.append(message_of(await collected(model, request(*history, tools=TOOLS))))
            history += results_of(history[-1])
        await model.close()
    return [message for message in history if isinstance(message, AssistantMessage)]


def results_of(reply: Message, *pictures: Image) -> list[Message]:
    calls = reply.tool_calls if isinstance(reply, AssistantMessage) else ()
    return [ToolResult(call.id, (Text(f"result of {call.id}"), *pictures)) for call in calls]


PROMPT, AGAIN = UserMessage((Text("Look."),)), UserMessage((Text("Again."),))
NOTE = UserMessage((Note("A file changed.", "changes"),))
SHOWN = UserMessage((Text("See"), Image("image/png", "picture")))
CUT = AssistantMessage((Text("I was about"),), interrupted=True, stop_reason=StopReason.CANCELLED)
THOUGHT = AssistantMessage((Thinking("Hm.", provider="nobody"),), interrupted=True)
ODD = AssistantMessage(
    (ToolCall("odd 1", "no such tool!", malformed="{"), ToolCall("odd/2", MARKED), ToolCall("odd_3", ""))
)

Story = Callable[[Sequence[AssistantMessage], Sequence[AssistantMessage]], list[Message]]
STORIES: Mapping[str, Story] = {
    "a whole turn": lambda a, b: [PROMPT, a[0], *results_of(a[0]), a[2], AGAIN],
    "a failed turn": lambda a, b: [PROMPT, AGAIN, a[0], *results_of(a[0]), a[2], PROMPT, AGAIN, AGAIN],
    "a turn that failed behind results": lambda a, b: [PROMPT, a[1], *results_of(a[1]), AGAIN, PROMPT],
    "a cut turn": lambda a, b: [PROMPT, CUT, AGAIN, a[0], *results_of(a[0]), CUT, NOTE, AGAIN],
    "a turn cut in its thoughts": lambda a, b: [PROMPT, THOUGHT, AGAIN, a[0], *results_of(a[0]), THOUGHT, AGAIN],
    "a switch between turns": lambda a, b: [PROMPT, a[0], *results_of(a[0]), a[2], AGAIN, b[0], *results_of(b[0])],
    "a switch in the middle": lambda a, b: [PROMPT, a[0], *results_of(a[0]), b[1], *results_of(b[1]), b[2], AGAIN],
    "a switch behind a failure": lambda a, b: [PROMPT, a[1], *results_of(a[1]), AGAIN, b[0], *results_of(b[0]), NOTE],
    "notes and pictures": lambda a, b: [
        SHOWN,
        NOTE,
        a[0],
        *results_of(a[0], Image("image/png", "picture")),
        SHOWN,
        NOTE,
    ],
    "calls that were none": lambda a, b: [PROMPT, ODD, *results_of(ODD), a[2], NOTE],
    "a reply behind a reply": lambda a, b: [PROMPT, a[2], b[2], a[0], *results_of(a[0]), CUT, a[2], AGAIN],
    "words of blanks": lambda a, b: [
        PROMPT,
        AssistantMessage((Text(" \n"), *a[1].tool_calls)),
        *results_of(a[1]),
        AGAIN,
    ],
}


def long_story(a: Sequence[AssistantMessage], b: Sequence[AssistantMessage]) -> list[Message]:
    """One that is long enough to be kept in parts."""
    turns = ((PROMPT, *([THOUGHT, AGAIN] if n % 3 else []), *_numbered(a[n % 2], n), b[2]) for n in range(40))
    return [*(message for turn in turns for message in turn), AGAIN]


def _numbered(reply: AssistantMessage, number: int) -> list[Message]:
    """A reply with its results, whose ids no other has."""
    parts = [
        ToolCall(f"{number}{part.id}", part.name, part.arguments) if isinstance(part, ToolCall) else part
        for part in reply.content
    ]
    again = AssistantMessage(tuple(parts), model=reply.model)
    return [again, *results_of(again)]


def judged(body: dict[str, Any], server: Server) -> None:
    """The vendor's own types take the request, beside the fields that its servers have and its types have not."""
    for message in body.get("messages", ()):
        for name in EXTRAS:
            message.pop(name, None)
    JUDGES[server.family]({"generationConfig": {}, **body} if "contents" in body else body)


async def sent_to(server: Server, histories: Sequence[Sequence[Message]], wrap: Any = lambda model: model) -> list[Any]:
    """The bodies of the requests, as they arrived."""
    async with ModelServer([Turn(text="Well.")] * len(histories)) as listening:
        at: Endpoint = endpoint(
            server.provider_name, server.model or MODELS.get(server.family, "m"), listening.url(server.family)
        )
        for messages in histories:
            model = wrap(FAMILIES[server.family](at, MemoryBlobs(picture=PICTURE)))
            await collected(model, request(*messages, tools=TOOLS))
            await model.close()
    return [asked.body for asked in listening.requests]


@pytest.fixture(scope="module")
def replies() -> Mapping[str, Sequence[AssistantMessage]]:
    return {name: asyncio.run(made_by(maker)) for name, maker in MAKERS.items()}


@pytest.mark.parametrize("server", SERVERS)
async def test_a_history_of_any_family_is_one_that_the_server_accepts(
    server: str, replies: Mapping[str, Sequence[AssistantMessage]]
) -> None:
    to = SERVERS[server]
    makers = [*MAKERS][::4] if to.family.startswith("azure") else [*MAKERS]  # the library is slow
    tries = [
        (f"{one}, {other}: {title}", story(replies[one], replies[other]))
        for one, other in zip(makers, makers[1:] + makers[:1], strict=True)
        for title, story in STORIES.items()
    ]
    tries.append(("a long one", long_story(replies["kimi"], replies["gemini"])))
    bodies = await sent_to(to, [history for _, history in tries])
    for (title, _), body in zip(tries, bodies, strict=True):
        assert broken_rules(body, to) == [], title
        judged(body, to)


@pytest.mark.parametrize("title", STORIES)
async def test_behind_the_text_protocol_roles_are_in_turn_too(
    title: str, replies: Mapping[str, Sequence[AssistantMessage]]
) -> None:
    history = STORIES[title](replies["gpt-oss"], replies["kimi"])
    (body,) = await sent_to(SERVERS["gemma in llama.cpp"], [history], TextProtocol)
    assert broken_rules(body, SERVERS["gemma in llama.cpp"]) == []


@pytest.mark.parametrize("field", EXTRAS)
@pytest.mark.parametrize(
    "provider", ["llamacpp", "vllm", "lmstudio", "jan", "fireworks-ai", "groq", "openai-compatible"]
)
async def test_reasoning_goes_back_in_the_field_it_came_in(provider: str, field: str) -> None:
    from tests.providers.test_printed_calls import answering

    call = {"index": 0, "id": "c1", "function": {"name": "read_file", "arguments": '{"path":"a"}'}}
    pieces = ({field: "I should "}, {field: "read it"}, {"tool_calls": [call]})
    data = b"".join(b"data: %s\n\n" % msgspec.json.encode({"choices": [{"delta": delta}]}) for delta in pieces)
    async with answering(data + b"data: [DONE]\n\n") as url:
        model = FAMILIES["openai"](endpoint(provider, "m", url), MemoryBlobs())
        reply = message_of(await collected(model))
        await model.close()
    to = Server("openai", provider, "m")
    (body,) = await sent_to(to, [[HELLO, reply, *results_of(reply)]])
    said = body["messages"][2]
    assert {name: said[name] for name in EXTRAS if name in said} == {field: "I should read it"}
    (body,) = await sent_to(Server("openai", "mistral", "m"), [[HELLO, reply, *results_of(reply)]])
    assert not {*EXTRAS} & body["messages"][2].keys()


async def test_own_ids_go_back_as_they_came() -> None:
    replies = await made_by(MAKERS["litellm"])
    (body,) = await sent_to(Server("openai", "litellm", "gemini"), [[HELLO, replies[0], *results_of(replies[0])]])
    assert [call["id"] for call in body["messages"][2]["tool_calls"]] == [*MAKERS["litellm"].ids[:2]]
    assert [message["tool_call_id"] for message in body["messages"][3:]] == [*MAKERS["litellm"].ids[:2]]
