"""Tells errors and notices in the page's own words: they name a command or a flag where the page has a place."""

import re
from typing import Any

from msgspec.structs import replace

from halocline.client.models import ModelConnection
from halocline.surfaces.rows.kinds import ErrorRow, NoticeRow, TurnEndRow
from halocline.surfaces.web.row_trimming import PageRow

PLACES = {
    "login": "Models",
    "models": "Models",
    "mcp": "MCP servers",
    "tasks undelete": "History → Trash",
    "tasks": "History",
    "checkpoints": "Rewind",
    "trust": "Instructions → Trust",
    "hooks": "Instructions → Hooks",
    "rules": "Instructions",
    "policy": "Approvals",
    "config": "Settings",
}
"""Commands, and the places of the page that do the same."""

PHRASES = {
    "choose another one with --base-url": "choose another address under Models",
    "set it with --base-url": "set its address under Models",
    "or pass --base-url URL": "or set the address under Models",
    "the model name that you gave with -m": "the name of the model",
    "the model name (-m)": "the name of the model",
    "paste a key: --with-key": "paste a key",
    "Fork without --files.": "Fork it without its files.",
    "give the file's hash: --sha256 HASH": "give the file's hash",
    "Choose a name with --as.": "Choose another name.",
    "Leave out --paths.": "Leave out the paths.",
    "To remove it all the same, add --force.": "It can be removed all the same.",
    "Start with --text-tools, so that": "Name it in the setting text_tools, so that",
    "limit tokens: --token-limit": "limit tokens (the setting token_limit)",
    "limit tokens as well: --token-limit": "limit tokens as well (the setting token_limit)",
    "or halo run --trust-project-code": "or turn on Project code in Approvals",
    "(--add-dir, or the add_dirs setting)": "(the setting add_dirs)",
    "certificate: --ca-file or": "certificate:",
    "Start without --worktree.": "Start without a worktree.",
    "Use --files instead of --worktree.": "Take its files along instead of a worktree.",
}
"""Advice with flags, and how the page has it."""

_NAME = "|".join(PLACES)
_QUOTED = re.compile(rf"(\b[Rr]un:? |\b[Ss]ee:? |)`halo ({_NAME})\b[^`]*`")
_PLAIN = re.compile(
    rf"(\b[Rr]un:? |\b[Ss]ee(?: them with)?:? |)\bhalo ({_NAME})\b[^\n]*?(?=[.;,)]?$|[.;,)]\s|\s(?:or|and)\s)",
    re.MULTILINE,
)
_RESUME = re.compile(r"\bhalo (?:-r|--resume) \S+?(?=[.,;]?$|[.,;]\s)")
_ITS_SERVER = re.compile(r"Go on there: halo -r \S+ --base-url \S+ Or choose a model for it with -m\.")
_FLAGS = "ca-file|connect-timeout|max-cost|max-steps|proxy|text-tools|token-limit"
"""Flags of settings; a task of the page gets its settings from the file."""
_TWICE = re.compile(rf"--(?:{_FLAGS}) or (?=the )| \(--(?:{_FLAGS})\)")
_FLAG = re.compile(rf"--({_FLAGS})\b")
_WITH_M = re.compile(r" with -m\b")
_NO_MODEL = re.compile(r"Choose one:\s+halo login.*", re.DOTALL)


def tell_page(text: str) -> str:
    """Return a text about an error in the page's words."""
    text = _ITS_SERVER.sub("To go on there, set that address under Models. Or choose a model for this task.", text)
    for words, ours in PHRASES.items():
        text = text.replace(words, ours)
    text = _FLAG.sub(lambda found: f"the setting {found[1].replace('-', '_')}", _TWICE.sub("", _WITH_M.sub("", text)))
    text = _NO_MODEL.sub("Connect one under Models.", text)
    text = _RESUME.sub("open it in History", text)
    return _PLAIN.sub(_name_place, _QUOTED.sub(_name_place, text))


def _name_place(found: re.Match[str]) -> str:
    before, command = found.groups()
    is_noun = found[0].startswith("`") and not found.string[: found.start()].rstrip().endswith(":")
    see = "" if is_noun else "See " if before[:1].isupper() else "see "
    return f"{see}{PLACES[command]}"


def tell_row(row: PageRow) -> PageRow:
    """Return a row in the page's words."""
    match row:
        case ErrorRow():
            return replace(row, text=tell_page(row.text), hint=tell_page(row.hint))
        case NoticeRow() | TurnEndRow() if row.text:
            return replace(row, text=tell_page(row.text))
        case _:
            return row


def tell_answer(answer: Any) -> Any:
    """Return the answer to a request in the page's words, if it tells of a connection that failed."""
    if not isinstance(answer, ModelConnection):
        return answer
    return replace(answer, failure=tell_page(answer.failure), hint=tell_page(answer.hint))
