"""Cline's tasks: `tasks/<id>/` of the extension and of `~/.cline/data`, and the sessions of its newer core.

The conversation is `api_conversation_history.json`; times, costs and the plan are in `ui_messages.json`, in rows of
their own. A session is a manifest with its messages beside it. Fields are as of autumn 2026.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from halocline.importers import content_blocks, json_stream
from halocline.importers.cline import markup
from halocline.importers.cline.costs import Request, by_place, metrics, request
from halocline.importers.transcript import (
    Answer,
    Found,
    Ground,
    Plan,
    Prompt,
    Reply,
    Said,
    dollars,
    first_line,
    moment,
    rows,
    stamped,
    table,
    words,
)
from halocline.protocol.messages import Text, ToolCall, UserPart
from halocline.protocol.state.todo_markdown import from_markdown
from halocline.protocol.values import JsonObject

TOOL = "cline"
TITLE = "Cline"
EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
SERVERS = (".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server")
EXTENSION = "User/globalStorage/saoudrizwan.claude-dev"
TALK, SCREEN, OLD_SCREEN = "api_conversation_history.json", "ui_messages.json", "claude_messages.json"
SESSION = ".messages.json"
UNREADABLE = "message that cannot be read"


def roots(home: Path, env: Mapping[str, str]) -> list[Path]:
    """Every folder in which Cline may keep a person's tasks."""
    named = [env.get("CLINE_DATA_DIR", ""), f"{env['CLINE_DIR']}/data" if env.get("CLINE_DIR") else ""]
    editors = [home / base / editor for editor in EDITORS for base in (".config", "Library/Application Support")]
    servers = [home / server / "data" for server in SERVERS]
    places = [
        *map(Path, filter(None, named)),
        home / ".cline/data",
        *(base / EXTENSION for base in (*editors, *servers)),
    ]
    return list({place.resolve(): None for place in places if place.is_dir()})


def found(home: Path, env: Mapping[str, str]) -> Iterator[Found]:
    """The tasks and sessions of a person."""
    for root in roots(home, env):
        yield from _of_root(root)


def found_at(path: Path) -> Iterator[Found]:
    """A task's folder, one of its files, a storage folder, a session's file or its folder."""
    if path.name.endswith(SESSION) or path.name == TALK or path.name in (SCREEN, OLD_SCREEN):
        path = path.parent
    if _is_task(path):
        yield from filter(None, [_task(path, _history(path.parent.parent))])
    elif manifests := sorted(path.glob(f"*{SESSION}")):
        yield from (_session(file) for file in manifests)
    else:
        yield from _of_root(path)
        if path.name in ("tasks", "sessions"):
            yield from _of_root(path.parent)


def _of_root(root: Path) -> Iterator[Found]:
    history = _history(root)
    for folder in sorted((root / "tasks").glob("*")):
        if _is_task(folder) and (task := _task(folder, history)):
            yield task
    for folder in sorted((root / "sessions").glob("*")):
        if (file := folder / f"{folder.name}{SESSION}").is_file():  # those beside it are its sub-agents'
            yield _session(file)


def _is_task(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (TALK, SCREEN, OLD_SCREEN))


def _history(root: Path) -> dict[str, JsonObject]:
    """What Cline's list says of each task; older versions had it elsewhere, and then the folders speak."""
    return {words(row.get("id")): row for row in rows(json_stream.whole(root / "state" / "taskHistory.json"))}


def _task(folder: Path, history: Mapping[str, JsonObject]) -> Found | None:
    screen = _screen(folder)
    row = history.get(folder.name, {})
    size, changed, stamp = stamped(folder / TALK, screen)
    title = first_line(words(row.get("task"))) or _first_words(screen) or _first_prompt(folder / TALK)
    started = moment(folder.name) or moment(row.get("ts")) or changed
    return Found(
        tool=TOOL,
        id=folder.name,
        path=str(folder),
        title=title,
        started=started,
        changed=moment(row.get("ts")) or changed,
        size=size,
        stamp=stamp,
        workspace=_workspace(folder, row),
        model=_model(folder, row),
        cost=dollars(row.get("totalCost")),
    )


def _screen(folder: Path) -> Path:
    return folder / (SCREEN if (folder / SCREEN).exists() else OLD_SCREEN)


def _first_words(screen: Path) -> str:
    return next((first_line(words(row.get("text"))) for row in json_stream.elements(screen) if row), "")


def _first_prompt(talk: Path) -> str:
    first = next(json_stream.elements(talk), None) or {}
    said = (words(block.get("text")) for block in content_blocks.blocks(first.get("content")))
    return first_line(" ".join(markup.without_environment(text) for text in said).removeprefix("<task>"))


def _workspace(folder: Path, row: JsonObject) -> str:
    if known := words(row.get("cwdOnTaskInitialization")) or words(row.get("shadowGitConfigWorkTree")):
        return known
    first = next(json_stream.elements(folder / TALK), None) or {}
    said = (markup.folder_in(words(block.get("text"))) for block in content_blocks.blocks(first.get("content")))
    return next(filter(None, said), "")


def _model(folder: Path, row: JsonObject) -> str:
    if used := rows(table(json_stream.whole(folder / "task_metadata.json")).get("model_usage")):
        provider, model = words(used[-1].get("model_provider_id")), words(used[-1].get("model_id"))
        return "/".join(filter(None, (provider, model)))
    return words(row.get("modelId"))


def _session(file: Path) -> Found:
    name = file.name.removesuffix(SESSION)
    manifest = table(json_stream.whole(file.with_name(f"{name}.json")))
    size, changed, stamp = stamped(file)
    title = words(table(manifest.get("metadata")).get("title")) or words(manifest.get("prompt"))
    return Found(
        tool=TOOL,
        id=name,
        path=str(file),
        title=first_line(markup.bare(title))
        or next((_title(row) for row in json_stream.elements(file, "messages") if row), ""),
        started=moment(manifest.get("started_at")) or changed,
        changed=moment(manifest.get("ended_at")) or changed,
        size=size,
        stamp=stamp,
        workspace=words(manifest.get("workspace_root")) or words(manifest.get("cwd")),
        model="/".join(filter(None, (words(manifest.get("provider")), words(manifest.get("model"))))),
    )


def _title(row: JsonObject) -> str:
    said = " ".join(words(block.get("text")) for block in content_blocks.blocks(row.get("content")))
    return first_line(markup.bare(said))


def said(found: Found, ground: Ground) -> Iterator[Said]:
    """The conversation, and the plan as it was last."""
    path = Path(found.path)
    if path.is_file():
        yield from _conversation(json_stream.elements(path, "messages"), (), found.model, ground)
        return
    requests, plan, has_talk = [], None, (path / TALK).is_file()
    for row in json_stream.elements(_screen(path)):
        if row is None:
            ground.lost["row of the screen that cannot be read"] += 1
        elif row.get("say") == "api_req_started":
            requests.append(request(row))
        elif row.get("say") == "task_progress":
            plan = Plan(from_markdown(words(row.get("text"))), moment(row.get("ts")))
    if has_talk:
        yield from _conversation(json_stream.elements(path / TALK), requests, found.model, ground)
    else:
        from halocline.importers.cline.screen import shown

        yield from shown(json_stream.elements(_screen(path)), ground)
    if plan and plan.todos:
        yield plan


def _conversation(
    messages: Iterable[JsonObject | None], requests: Iterable[Request], model: str, ground: Ground
) -> Iterator[Said]:
    known, in_order = by_place(requests)
    in_text = ""
    for number, message in enumerate(messages):
        if message is None:
            ground.lost[UNREADABLE] += 1
        elif message.get("role") == "assistant":
            asked = known.get(number - 2) or (next(in_order, None) if not known else None)
            reply = _reply(message, number, asked, model, ground)
            in_text = next((call.id for call in _calls(reply) if call.id.startswith(markup.IN_TEXT)), "")
            yield reply
        else:
            yield from _heard(message, in_text, ground)
            in_text = ""


def _calls(reply: Reply) -> Iterator[ToolCall]:
    return (part for part in reply.content if isinstance(part, ToolCall))


def _reply(message: JsonObject, number: int, asked: Request | None, model: str, ground: Ground) -> Reply:
    content = tuple(markup.called(content_blocks.spoken(message.get("content"), ground), number, ground))
    told = table(message.get("modelInfo"))
    provider, name = (words(told.get(one)) or words(told.get(other)) for one, other in MODEL_FIELDS)
    at = moment(message.get("ts")) or (asked.at if asked else 0.0)
    usage, cost = metrics(table(message.get("metrics"))) or ((asked.usage, asked.cost) if asked else (None, None))
    return Reply(content, at, "/".join(filter(None, (provider, name))) or model, usage, cost)


MODEL_FIELDS = (("providerId", "provider"), ("modelId", "id"))


def _heard(message: JsonObject, in_text: str, ground: Ground) -> Iterator[Said]:
    """Results first, as our own logs have them; then what the person said."""
    at = moment(message.get("ts"))
    told: list[UserPart] = []
    result: list[Text] = []
    for block in content_blocks.blocks(message.get("content")):
        match block.get("type"):
            case "tool_result":
                yield from _answered(block, at, ground)
            case "image":
                told.append(content_blocks.picture(block, ground))
            case "text":
                text = words(block.get("text"))
                if in_text and (result or markup.is_result(text)):
                    result.append(Text(ground.text(_result_words(text))))
                elif part := markup.heard(text, ground):
                    told.append(part)
            case other:
                ground.lost[f"part of a message of an unknown kind ({str(other)[:40]})"] += 1
    if result:
        said = tuple(part for part in result if part.text)
        yield Answer(in_text, said or (Text(""),), at)
        told += [Text(text) for part in result if (text := markup.feedback_in(part.text))]
    if told:
        yield Prompt(tuple(told), at)


def _result_words(text: str) -> str:
    text = markup.without_environment(text)
    head = markup.is_result(text)
    return text[head.end() :] if head else text


def _answered(block: JsonObject, at: float, ground: Ground) -> Iterator[Said]:
    """A result; what a person said to a finished task stands in one, and begins a turn."""
    answer = content_blocks.answered(block, at, ground)
    yield answer
    said = "\n".join(part.text for part in answer.content if isinstance(part, Text))
    if "<feedback>" in said and (text := markup.feedback_in(said)):
        yield Prompt((Text(text),), at)
