"""Where other tools keep their tasks, and what can be said of one without reading it to its end."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from halocline.protocol.events import Origin
from halocline.protocol.values import JsonObject, Value
from halocline.store.importing import claude, cline, codex
from halocline.store.importing.said import Prompted, moment

TOOLS = ("cline", "claude", "codex")
EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
HEAD = 512 * 1024
"""Bytes of a transcript that are read for its line in a list."""
CONVERSATION = "api_conversation_history.json"
_CWD = re.compile(rb'"cwd"\s*:\s*"((?:[^"\\\\]|\\\\.)*)"')


class Found(Value, frozen=True, omit_defaults=False):
    """A task of another tool. `cost` is in US dollars, where the tool kept one; `workspace` may be unknown."""

    origin: Origin
    title: str
    at: float
    changed: float
    size: int
    workspace: str = ""
    cost: float | None = None


def found(tool: str, home: Path, env: Mapping[str, str]) -> Iterator[Found]:
    """What a tool has on this machine."""
    match tool:
        case "claude":
            root = Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
            yield from (named(tool, path) for path in _files(root, "*/*.jsonl"))
        case "codex":
            root = Path(env.get("CODEX_HOME") or home / ".codex") / "sessions"
            yield from (named(tool, path) for path in _files(root, "**/rollout-*.jsonl"))
        case _:
            for root in cline_roots(home, env):
                index = _index(root)
                for path in _files(root, f"tasks/*/{CONVERSATION}"):
                    yield _with(named(tool, path), index.get(path.parent.name, {}))
                yield from (named(tool, path) for path in _files(root, "sessions/*/*.messages.json"))


def cline_roots(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Cline's storage: its own folder, and one in each editor."""
    yield Path(env.get("CLINE_DATA_DIR") or Path(env.get("CLINE_DIR") or home / ".cline") / "data")
    for base in (home / ".config", home / "Library/Application Support"):
        yield from (base / editor / "User/globalStorage/saoudrizwan.claude-dev" for editor in EDITORS)
    yield home / ".vscode-server/data/User/globalStorage/saoudrizwan.claude-dev"


def named(tool: str, path: Path) -> Found:
    """A transcript at a place; of Cline also its folder. Raises OSError."""
    path = path / CONVERSATION if path.is_dir() else path
    about = path.stat()
    with open(path, "rb") as file:
        head = file.read(HEAD)
    name = path.parent.name if path.name == CONVERSATION else path.name.partition(".")[0]
    first = _first(tool, head)
    began = (
        first.at
        if first and first.at
        else (moment(int(name)) if name.isdecimal() and len(name) < 20 else about.st_mtime)
    )
    cwd = _CWD.search(head)
    stamp = f"{about.st_size} {about.st_mtime_ns}"
    return Found(
        origin=Origin(tool=tool, id=name, path=str(path.absolute()), stamp=stamp),
        title=" ".join(first.text.split())[:120] if first else "",
        at=began,
        changed=about.st_mtime,
        size=about.st_size,
        workspace=_text(cwd[1]) if cwd else "",
    )


def _first(tool: str, head: bytes) -> Prompted | None:
    lines = iter(head.splitlines())
    match tool:
        case "claude":
            beats = claude.read(lines)
        case "codex":
            beats = codex.read(lines)
        case _:
            beats = cline.read(head)
    return next((beat for beat in beats if isinstance(beat, Prompted)), None)


def _files(root: Path, pattern: str) -> list[Path]:
    return sorted(path for path in root.glob(pattern) if path.is_file()) if root.is_dir() else []


def _text(quoted: bytes) -> str:
    try:
        return msgspec.json.decode(b'"' + quoted + b'"', type=str)
    except msgspec.DecodeError:
        return ""


def _index(root: Path) -> dict[str, JsonObject]:
    """Cline's own list of tasks, by id; empty when it cannot be read."""
    try:
        rows = msgspec.json.decode((root / "state/taskHistory.json").read_bytes(), type=list[JsonObject])
    except (OSError, msgspec.DecodeError):
        return {}
    return {str(row.get("id")): row for row in rows}


def _with(task: Found, row: JsonObject) -> Found:
    """What the list knows besides."""
    cost, place = row.get("totalCost"), row.get("cwdOnTaskInitialization")
    return msgspec.structs.replace(
        task,
        cost=float(cost) if isinstance(cost, int | float) else None,
        workspace=place if isinstance(place, str) else task.workspace,
    )
