"""Histories that every family made, and every two of them, sent to every server: each gets what it accepts.

Judged by rules, which servers state when they refuse a request (the sources stand beside them), and by the vendors'
own types. Replies are made once; the encoders are pure, so only the library's requests go over a wire.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, permutations
from typing import Any

import msgspec
import pytest
from tests.conformance.sdks import PICTURE
from tests.conformance.test_model_port import FAMILIES
from tests.conformance.test_request_judges import JUDGES, MODELS
from tests.providers.markup import TOOLS
from tests.providers.streams import HELLO, MemoryBlobs, collected, endpoint, message_of, request
from tests.servers.model_server import Call, ModelServer, Turn
from tests.tables import Failures

from halocline.ports.blobs import Blobs
from halocline.ports.model import Request
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
from halocline.providers.anthropic import request as anthropic
from halocline.providers.endpoint import Endpoint
from halocline.providers.gemini import request as gemini
from halocline.providers.json_cache import Fragments
from halocline.providers.ollama import request as ollama
from halocline.providers.openai_chat import request as openai_chat
from halocline.providers.openai_responses import request as openai_responses
from halocline.providers.sap import request as sap
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
    "azure-chat": Maker("azure-chat", ids=tuple(f"call_azure_{n}" for n in "abcd")),
    "azure-responses": Maker("azure-responses", model="gpt-5.6"),
    "kimi": Maker("openai", "moonshotai", "kimi-k2.5", ids=tuple(f"functions.read_file:{n}" for n in range(4))),
    "gpt-oss": Maker("openai", "llamacpp", "gpt-oss-20b", MARKED, ids=tuple(f"fc_{n}" for n in "abcd")),
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
    "sap": Server("sap", "sap-ai-core", "gpt-5.4", FORTY),
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
    # "`tool_use` ids must be unique": api.anthropic.com
    called = [id for turn in turns for id, _ in turn.calls]
    broken += [f"id {id!r} twice" for id in {*called} if called.count(id) > 1]
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


Replies = Sequence[AssistantMessage]


async def made_by(maker: Maker) -> Replies:
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


def ran(reply: AssistantMessage, *pictures: Image) -> list[Message]:
    """A reply with the results of its calls."""
    return [reply, *results_of(reply, *pictures)]


PROMPT, AGAIN = UserMessage((Text("Look."),)), UserMessage((Text("Again."),))
NOTE = UserMessage((Note("A file changed.", "changes"),))
PICTURE_OF = Image("image/png", "picture")
SHOWN = UserMessage((Text("See"), PICTURE_OF))
CUT = AssistantMessage((Text("I was about"),), interrupted=True, stop_reason=StopReason.CANCELLED)
THOUGHT = AssistantMessage((Thinking("Hm.", provider="nobody"),), interrupted=True)
ODD = AssistantMessage(
    (ToolCall("odd 1", "no such tool!", malformed="{"), ToolCall("odd/2", MARKED), ToolCall("odd_3", ""))
)

STORIES: Mapping[str, Callable[[Replies], list[Message]]] = {
    "a whole turn": lambda a: [PROMPT, *ran(a[0]), a[2], AGAIN],
    "a failed turn": lambda a: [PROMPT, AGAIN, *ran(a[0]), a[2], PROMPT, AGAIN, AGAIN],
    "a turn that failed behind results": lambda a: [PROMPT, *ran(a[1]), AGAIN, PROMPT],
    "a cut turn": lambda a: [PROMPT, CUT, AGAIN, *ran(a[0]), CUT, NOTE, AGAIN],
    "a turn cut in its thoughts": lambda a: [PROMPT, THOUGHT, AGAIN, *ran(a[0]), THOUGHT, AGAIN],
    "notes and pictures": lambda a: [SHOWN, NOTE, *ran(a[0], PICTURE_OF), SHOWN, NOTE],
    "calls that were none": lambda a: [PROMPT, *ran(ODD), a[2], NOTE],
    "words of blanks": lambda a: [PROMPT, AssistantMessage((Text(" \n"), *a[1].tool_calls)), *results_of(a[1]), AGAIN],
}
"""By one maker."""
SWITCHES: Mapping[str, Callable[[Replies, Replies], list[Message]]] = {
    "a switch between turns": lambda a, b: [PROMPT, *ran(a[0]), a[2], AGAIN, *ran(b[0])],
    "a switch in the middle": lambda a, b: [PROMPT, *ran(a[0]), *ran(b[1]), b[2], AGAIN],
    "a switch behind a failure": lambda a, b: [PROMPT, *ran(a[1]), AGAIN, *ran(b[0]), NOTE],
    "a switch behind a cut": lambda a, b: [PROMPT, *ran(a[0]), CUT, AGAIN, *ran(b[1]), b[2], NOTE],
    "a switch behind thoughts": lambda a, b: [PROMPT, *ran(a[1]), THOUGHT, AGAIN, *ran(b[0]), AGAIN],
    "a reply behind a reply": lambda a, b: [PROMPT, a[2], b[2], *ran(a[0]), CUT, a[2], AGAIN],
    "back again": lambda a, b: [PROMPT, *ran(a[0]), *ran(b[0]), *ran(a[1]), AGAIN],
}
"""By two makers."""


def long_story(a: Replies, b: Replies) -> list[Message]:
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
    return ran(again)


def judge_types(bodies: Sequence[dict[str, Any]], server: Server) -> None:
    """The vendor's own types take each message of the requests, and a request with all of them.

    They judge each message by itself, so that each is judged once. Fields that the servers have and the types have not
    are left out.
    """
    name = next(name for name in ("messages", "input", "contents") if name in bodies[0])
    each = {msgspec.json.encode(message): message for body in bodies for message in body[name]}
    for message in each.values():
        for extra in EXTRAS:
            message.pop(extra, None)
    together = bodies[0] | {name: [*each.values()]}
    of_types = "openai" if server.family == "sap" else server.family
    JUDGES[of_types]({"generationConfig": {}, **together} if name == "contents" else together)


def endpoint_of(server: Server, url: str = "") -> Endpoint:
    return endpoint(server.provider_name, server.model or MODELS.get(server.family, "m"), url)


async def sent_to(server: Server, histories: Sequence[Sequence[Message]], wrap: Any = lambda model: model) -> list[Any]:
    """The bodies of the requests, as they arrived."""
    async with ModelServer([Turn(text="Well.")] * len(histories)) as listening:
        model = FAMILIES[server.family](endpoint_of(server, listening.url(server.family)), MemoryBlobs(picture=PICTURE))
        for messages in histories:
            await collected(wrap(model), request(*messages, tools=TOOLS))
        await model.close()
    return [asked.body for asked in listening.requests]


Encode = Callable[[Request, Endpoint, Any], list[bytes]]
ENCODERS: Mapping[str, tuple[Encode, Callable[[Endpoint, Blobs], Fragments[Any]]]] = {
    "anthropic": (anthropic.to_wire, anthropic.encode_messages),
    "openai": (openai_chat.to_wire, openai_chat.encode_messages),
    "openai-responses": (
        openai_responses.to_wire,
        lambda at, blobs: openai_responses.encode_messages(at.vendor.name, blobs),
    ),
    "gemini": (gemini.to_wire, gemini.encode_messages),
    "ollama": (
        lambda asked, at, fragments: ollama.to_wire(asked, at, fragments, {}),
        lambda at, blobs: Fragments(ollama.Encoder(at, blobs).encode),
    ),
    "sap": (sap.to_wire, openai_chat.encode_messages),
}
"""How a family writes a request. The library's families write theirs only to send them."""


def encoded_for(server: Server, histories: Sequence[Sequence[Message]]) -> list[Any]:
    """The bodies of the requests, as they would be sent."""
    at, blobs = endpoint_of(server), MemoryBlobs(picture=PICTURE)
    to_wire, encode_messages = ENCODERS[server.family]
    asked = (request(*messages, tools=TOOLS) for messages in histories)
    bodies = [msgspec.json.decode(b"".join(to_wire(one, at, encode_messages(at, blobs)))) for one in asked]
    return [_unwrap(body) for body in bodies] if server.family == "sap" else bodies


def _unwrap(body: dict[str, Any]) -> dict[str, Any]:
    """SAP's body as the one of OpenAI's format that it holds."""
    templating = body["config"]["modules"]["prompt_templating"]
    prompt = templating["prompt"]
    messages = [*body["messages_history"], *prompt["template"]]
    return {"model": templating["model"]["name"], "messages": messages, "tools": prompt["tools"], "stream": True}


def histories_of(replies: Mapping[str, Replies]) -> dict[str, list[Message]]:
    """Each story by each maker, each switch between each two, and one that is long."""
    found = {f"{one}: {title}": story(replies[one]) for one in replies for title, story in STORIES.items()}
    for one, other in permutations(replies, 2):
        found |= {f"{one}, {other}: {title}": tell(replies[one], replies[other]) for title, tell in SWITCHES.items()}
    one, other = list(replies)[:2]
    return found | {"a long one": long_story(replies[one], replies[other])}


def judge(bodies: Sequence[dict[str, Any]], titles: Iterable[str], server: Server) -> None:
    failures = Failures(len(bodies))
    for title, body in zip(titles, bodies, strict=True):
        with failures.collect(title):
            assert broken_rules(body, server) == []
    failures.show()
    judge_types(bodies, server)


@pytest.fixture(scope="module")
def replies() -> Mapping[str, Replies]:
    return {name: asyncio.run(made_by(maker)) for name, maker in MAKERS.items()}


def test_a_history_of_any_families_is_one_that_each_server_accepts(replies: Mapping[str, Replies]) -> None:
    histories = histories_of(replies)
    assert len(histories) > len(MAKERS) * (len(MAKERS) - 1) * len(SWITCHES)
    for to in SERVERS.values():
        if to.family in ENCODERS:
            judge(encoded_for(to, [*histories.values()]), histories, to)


@pytest.mark.parametrize("server", [name for name, to in SERVERS.items() if to.family not in ENCODERS])
@pytest.mark.parametrize("makers", ["three", "all"])
async def test_a_history_of_any_families_is_one_that_a_server_behind_the_library_accepts(
    makers: str, server: str, replies: Mapping[str, Replies]
) -> None:
    names = [*MAKERS] if makers == "all" else [*MAKERS][::4]
    histories = histories_of({name: replies[name] for name in names})
    judge(await sent_to(SERVERS[server], [*histories.values()]), histories, SERVERS[server])


@pytest.mark.parametrize("title", [*STORIES, *SWITCHES])
async def test_behind_the_text_protocol_roles_are_in_turn_too(title: str, replies: Mapping[str, Replies]) -> None:
    one, other = replies["gpt-oss"], replies["kimi"]
    history = STORIES[title](one) if title in STORIES else SWITCHES[title](one, other)
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


NEW_MAKERS = {
    "names with marks": Maker("openai", "vllm", "m", "functions.read_file:3<|channel|>json", ("", "", "", "")),
    "names with blanks and signs": Maker("openai", "groq", "m", "read file!", ("a b", "c/d", "e:f", "g#h")),
    "names of other letters": Maker("openai", "moonshotai", "m", "читать", ("ид1", "ид2", "ид3", "ид4")),
    "names that are long": Maker("ollama", "", "m", "read_file" * 20, ("", "", "", "")),
    "names that begin with a number": Maker("gemini", "", "m", "1read_file", ("", "", "", "")),
    "ids of a sign": Maker("openai", "mistral", "mistral-large", ids=("-", "_", ".", "0")),
    "ids that are long and alike": Maker("openai", "litellm", "m", ids=tuple(f"{'x' * 90}{n}" for n in range(4))),
    "ids that differ in signs alone": Maker("openai", "deepseek", "m", ids=("a:1", "a.1", "a/1", "a 1")),
    "ids of nine, some with signs": Maker(
        "openai", "mistral", "m", ids=("abcdefgh1", "abcdefgh-", "abcdefgh2", "ABCDEFGH_")
    ),
    "ids of Claude's behind a gateway": Maker(
        "openai", "openrouter", "m", ids=tuple(f"toolu_{n}|fc_{n}" for n in "abcd")
    ),
    "ids that are numbers": Maker("anthropic", "", "m", ids=("1", "2", "3", "4")),
}
"""Neighbours of the makers above: names and ids in forms that no one reported."""
NEW_SERVERS = {
    "codestral": Server("openai", "openrouter", "mistralai/codestral-2508", NINE, results_then_reply=True),
    "magistral in llama.cpp": Server("openai", "llamacpp", "Magistral-Small-2509", NINE, results_then_reply=True),
    "ministral in LM Studio": Server("openai", "lmstudio", "ministral-8b", NINE, results_then_reply=True),
    "pixtral in Ollama's other format": Server("openai", "vllm", "pixtral-12b", NINE, results_then_reply=True),
    "deepseek's other model": Server(
        "openai", "deepseek", "deepseek-chat", FORTY, required={"reasoning_content": r"(?s).*"}
    ),
    "kimi's older model": Server(
        "openai", "moonshotai", "kimi-k2-thinking", r".+", required={"reasoning_content": r"(?s).+"}
    ),
    "gemma in LM Studio": Server("openai", "lmstudio", "google/gemma-3-12b", FORTY),
    "a model in vLLM": Server("openai", "vllm", "meta-llama/Llama-3.1-8B", FORTY),
    "claude behind another gateway": Server("openai", "litellm", "claude-sonnet-5"),
    "an older gemini": Server("gemini", model="gemini-2.5-flash", ids=r".+"),
    "a template in jan": Server("openai", "jan", "qwen3-4b", FORTY),
}
"""Neighbours of the servers above."""


async def test_a_history_of_makers_that_no_one_reported_is_one_that_each_server_accepts() -> None:
    replies = {name: await made_by(maker) for name, maker in NEW_MAKERS.items()}
    histories = {f"{one}: {title}": story(replies[one]) for one in replies for title, story in STORIES.items()}
    one, *_, other = replies
    histories |= {f"{one}, {other}: {title}": tell(replies[one], replies[other]) for title, tell in SWITCHES.items()}
    for to in (SERVERS | NEW_SERVERS).values():
        if to.family in ENCODERS:
            judge(encoded_for(to, [*histories.values()]), histories, to)


def test_servers_that_no_one_reported_accept_the_history_of_any_family(replies: Mapping[str, Replies]) -> None:
    histories = {f"{one}: {title}": story(replies[one]) for one in replies for title, story in STORIES.items()}
    for to in NEW_SERVERS.values():
        judge(encoded_for(to, [*histories.values()]), histories, to)
