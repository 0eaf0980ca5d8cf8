"""Tells errors in the page's own words: their hints name a command or a flag where the page has a place."""

import re

from msgspec.structs import replace

from halocline.surfaces.rows.kinds import ErrorRow
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

FLAGS = {
    "choose another one with --base-url": "choose another address under Models",
    "set it with --base-url": "set its address under Models",
    "or pass --base-url URL": "or set the address under Models",
    "the model name (-m)": "the name of the model",
}

_NAME = "|".join(PLACES)
_QUOTED = re.compile(rf"(\b[Rr]un:? |\b[Ss]ee:? |)`halo ({_NAME})\b[^`]*`")
_PLAIN = re.compile(
    rf"(\b[Rr]un:? |\b[Ss]ee(?: them with)?:? |)\bhalo ({_NAME})\b[^\n]*?(?=[.;,)]?$|[.;,)]\s|\s(?:or|and)\s)",
    re.MULTILINE,
)
_RESUME = re.compile(r"\bhalo (?:-r|--resume) \S+?(?=[.,;]?$|[.,;]\s)")
_ITS_SERVER = re.compile(r"Go on there: halo -r \S+ --base-url \S+ Or choose a model for it with -m\.")
_NO_MODEL = re.compile(r"Choose one:\s+halo login.*", re.DOTALL)


def tell_page(text: str) -> str:
    """Return a text about an error in the page's words."""
    for words, ours in FLAGS.items():
        text = text.replace(words, ours)
    text = _ITS_SERVER.sub("To go on there, set that address under Models. Or choose a model for this task.", text)
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
    if not isinstance(row, ErrorRow):
        return row
    return replace(row, text=tell_page(row.text), hint=tell_page(row.hint))
