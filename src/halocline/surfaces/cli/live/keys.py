"""The keys of the live screen, in one table: its bindings, the `?` sheet and the guide come from it."""

from collections.abc import Sequence

from halocline.protocol.values import Value

Combination = tuple[str, ...]
"""Keys pressed one after the other, as prompt_toolkit names them."""


class KeyRow(Value, frozen=True):
    """An action, the keys as prompt_toolkit names them, as people read them, and what they do."""

    action: str
    keys: tuple[Combination, ...]
    shown: str
    text: str


KEYS: Sequence[KeyRow] = (
    KeyRow("send", (("enter",),), "Enter", "send; while a turn runs, queue; again, send the queued prompt now"),
    KeyRow("steer", (("c-s",), ("f24",)), "Ctrl-Enter or Ctrl-S", "send to the running turn now"),
    KeyRow("new_line", (("escape", "enter"), ("c-j",)), "Alt-Enter, Ctrl-J, Shift-Enter or \\ Enter", "new line"),
    KeyRow("interrupt", (("escape",),), "Esc", "stop the turn, or close what is open"),
    KeyRow("rewind", (), "Esc Esc", "with nothing typed: go back to an earlier prompt"),
    KeyRow("cancel", (("c-c",),), "Ctrl-C", "clear the text, stop the turn, or twice to quit"),
    KeyRow("quit", (("c-d",),), "Ctrl-D", "with nothing typed: quit"),
    KeyRow("go_to_board", (("left",),), "←", "with nothing typed: back to `halo board`, if it opened the task"),
    KeyRow("cycle_modes", (("s-tab",),), "Shift-Tab", "next mode: ask, plan, accept-edits, auto"),
    KeyRow("recall", (("up",),), "↑", "edit the last queued prompt, or recall an earlier one"),
    KeyRow("page_up", (("pageup",),), "PageUp", "in a list to pick from: a page up"),
    KeyRow("page_down", (("pagedown",),), "PageDown", "in a list to pick from: a page down"),
    KeyRow("search", (), "Ctrl-R", "search earlier prompts"),
    KeyRow("expand", (("c-o",),), "Ctrl-O", "show in full what was shortened"),
    KeyRow("background", (("c-b",),), "Ctrl-B", "move the running command to the background, or retry now"),
    KeyRow("edit", (("c-g",),), "Ctrl-G", "edit the prompt in your editor, pasted texts in full"),
    KeyRow("paste_image", (("c-v",),), "Ctrl-V", "paste an image"),
    KeyRow("suspend", (("c-z",),), "Ctrl-Z", "suspend; fg returns"),
    KeyRow("go_to_card", (), "Tab", "with text typed: go to the question that waits, and back"),
    KeyRow("show_keys", (("?",),), "?", "with nothing typed: show these keys"),
)
"""All keys. Rows without `keys` are bound where they are handled."""

BRIEF = {
    "send": "send, or queue",
    "steer": "send to this turn now",
    "interrupt": "stop, or close",
    "quit": "quit",
    "rewind": "go back to a prompt",
    "cancel": "clear, stop; twice: quit",
    "go_to_board": "back to the board",
    "cycle_modes": "next mode",
    "recall": "earlier prompts",
    "search": "search prompts",
    "expand": "show in full",
    "background": "to the background",
    "edit": "edit in your editor",
    "go_to_card": "go to the question",
    "show_keys": "these keys",
}
"""The meaning of keys in few words, by their action."""
