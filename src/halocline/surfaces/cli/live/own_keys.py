"""The person's own keys: `keys.toml` in Halocline's home, read into a table like that of the built-in keys. Pure.

Each line binds keys to an action, to a slash command, or to nothing. A line that cannot be used is named and left out.

What must stay true: Enter, Escape and Ctrl-C keep their meaning, and no key that is text is bound alone.
"""

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from prompt_toolkit.key_binding.bindings.named_commands import get_by_name
from prompt_toolkit.keys import KEY_ALIASES, Keys

from halocline.protocol.values import Value
from halocline.surfaces.cli.live.keys import BRIEF, KEYS, Combination, KeyRow
from halocline.surfaces.sanitize import clean

FILE_NAME = "keys.toml"
KEPT = {"enter": "Enter", "escape": "Escape", "c-c": "Ctrl-C"}
"""Keys that keep their meaning, so that a person can always send, stop and leave."""
OTHER_NAMES: Mapping[str, str] = {
    "chat:submit": "send",
    "chat:newline": "new_line",
    "chat:cancel": "interrupt",
    "chat:undo": "undo",
    "chat:cycleMode": "cycle_modes",
    "chat:externalEditor": "edit",
    "chat:imagePaste": "paste_image",
    "chat:modelPicker": "/model",
    "app:toggleTodos": "/todos",
    "app:toggleTranscript": "expand",
    "app:interrupt": "cancel",
    "app:exit": "quit",
    "app:redraw": "clear-screen",
    "task:background": "background",
    "history:search": "reverse-search-history",
    "history:previous": "recall",
    "history:next": "next-history",
    "search": "reverse-search-history",
    "rewind": "/rewind",
    "accept-line": "send",
    "edit-and-execute-command": "edit",
    "previous-history": "recall",
}
"""Actions as Claude Code (code.claude.com/docs/en/keybindings) and readline name them. The other actions of readline
are those of prompt_toolkit."""
_HELD = {
    **dict.fromkeys(("ctrl", "control", "c"), "c"),
    **dict.fromkeys(("alt", "meta", "opt", "option", "m"), "a"),
    **dict.fromkeys(("shift", "s"), "s"),
}
_SAME = {
    "return": "enter",
    "esc": "escape",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "c-m": "enter",
    "c-[": "escape",
    "c-i": "tab",
    "c-/": "c-_",
    "c--": "c-_",
    "space": " ",
    "c- ": "c-space",
    "c-enter": "f24",
    "s-enter": "escape enter",
}
_SHOWN = {"escape": "Esc", "f24": "Ctrl-Enter", "pageup": "PageUp", "pagedown": "PageDown"}
_BOUND = {row.action for row in KEYS if row.keys}
_KNOWN = {key.value for key in Keys if key.value[0] != "<"} | {*KEY_ALIASES}
_READLINE = re.compile(r"(?:\\[CM]-)*(?:\\e|[^\s])")
_HOLD = re.compile(r"([A-Za-z]+)[-+](?=.)")


class OwnKeys(Value, frozen=True):
    """The table of keys with the person's changes.

    `others` are keys with a slash command, an action of readline, or nothing. `problems` name the lines that are left
    out, and why.
    """

    rows: Sequence[KeyRow] = KEYS
    others: Mapping[Combination, str] = {}
    problems: Sequence[str] = ()

    def key_lines(self, *, without: str = "") -> list[tuple[str, str]]:
        """Each action's shortest key with what it does, in few words, `without` that of one that cannot be done."""
        own = ((show_keys(keys), text) for keys, text in self.others.items() if text)
        rows = (row for row in self.rows if row.shown and row.action != without)
        return [*((_shortest(row.shown), BRIEF.get(row.action, row.text)) for row in rows), *own]


def _shortest(shown: str) -> str:
    return shown.split(",")[0].split(" or ")[-1]


def read_own_keys(lines: Mapping[str, object]) -> OwnKeys:
    """Read the lines of `keys.toml`."""
    own = OwnKeys()
    for keys, action in lines.items():
        try:
            own = _bind(own, parse_keys(keys), action)
        except ValueError as error:
            own = replace(own, problems=(*own.problems, f"{FILE_NAME}: {clean(keys)!r} is left out: {error}."))
    return own


def parse_keys(text: str) -> Combination:
    r"""Read keys as people, Claude Code and readline write them: `ctrl-x ctrl-e`, `alt+p`, `\C-x\C-e`.

    Raises ValueError.
    """
    parts = _READLINE.findall(text) if "\\" in text[:-1] else text.split()
    keys = tuple(key for part in parts for key in _parse_key(_spell_out(part)))
    if not keys:
        raise ValueError("it names no key")
    if len(keys[0]) == 1:
        raise ValueError("it is text: add Ctrl or Alt")
    if kept := KEPT.get("" if keys[0] == "escape" and keys[1:] not in ((), ("escape",)) else keys[0]):
        raise ValueError(f"{kept} keeps its meaning")
    return keys


def _spell_out(part: str) -> str:
    """Spell the marks of readline as people do."""
    return part.replace("\\C-", "ctrl-").replace("\\M-", "alt-").replace("\\e", "escape")


def _parse_key(part: str) -> list[str]:
    """Read one key with what is held down. Alt is sent as Escape before the key."""
    held, key = set[str](), part
    while (match := _HOLD.match(key)) and (name := _HELD.get(match[1].lower())):
        held.add(name)
        key = key[match.end() :]
    if len(key) > 1 or "c" in held:
        key = key.lower()
    name = "".join(f"{one}-" for one in ("c", "s") if one in held) + _SAME.get(key, key)
    names = _SAME.get(name, name).split(" ") if name != " " else [name]
    if any(name not in _KNOWN and len(name) > 1 for name in names):
        raise ValueError(f"there is no key {clean(part)!r}")
    return ["escape", *names] if "a" in held else names


def _bind(own: OwnKeys, keys: Combination, action: object) -> OwnKeys:
    """Bind keys, which lose what they did before. Raises ValueError."""
    if not isinstance(action, str):
        raise ValueError('its action is a text in quotes; "" for none')
    name, shown = OTHER_NAMES.get(action, action), show_keys(keys)
    rows = [_without(row, keys) for row in own.rows if row.keys or row.shown != shown]
    others = {other: text for other, text in own.others.items() if other != keys}
    at = next((at for at, row in enumerate(rows) if row.action == name and name in _BOUND), None)
    if at is not None:
        rows[at] = replace(
            rows[at], keys=(*rows[at].keys, keys), shown=" or ".join(filter(None, [rows[at].shown, shown]))
        )
        return replace(own, rows=rows, others=others)
    if name and name[0] != "/":
        try:
            get_by_name(name)
        except KeyError:
            raise ValueError(f"there is no action {clean(name)!r}") from None
    return replace(own, rows=rows, others={**others, keys: name})


def _without(row: KeyRow, keys: Combination) -> KeyRow:
    """The row without these keys; it then shows those that are left."""
    left = tuple(one for one in row.keys if one != keys)
    return row if left == row.keys else replace(row, keys=left, shown=" or ".join(map(show_keys, left)))


def show_keys(keys: Combination) -> str:
    """Write keys as people read them: `Ctrl-X Ctrl-E`, `Alt-p`."""
    return " ".join(map(_show_key, keys)).replace("Esc ", "Alt-")


def _show_key(key: str) -> str:
    if len(key) == 1:
        return key
    *held, name = key.split("-")
    name = _SHOWN.get(name, name.upper() if len(name) == 1 else name.capitalize())
    return "-".join([*({"c": "Ctrl", "s": "Shift"}[one] for one in held), name])
