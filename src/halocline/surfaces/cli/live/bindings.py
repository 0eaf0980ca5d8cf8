"""Binds the table of keys to actions, and lets a card take its keys first."""

import string
from collections import deque
from collections.abc import Callable
from functools import partial

from prompt_toolkit.filters import Condition, Filter, has_completions, is_searching, vi_insert_mode, vi_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent, merge_key_bindings
from prompt_toolkit.key_binding.bindings.named_commands import get_by_name
from prompt_toolkit.key_binding.key_bindings import KeyBindingsBase
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from halocline.surfaces.cli.live.actions import LiveActions
from halocline.surfaces.cli.live.composer import LiveComposer, take_choice
from halocline.surfaces.cli.live.decision_keys import DOWN, ENTER, TAB, UP
from halocline.surfaces.cli.live.own_keys import OwnKeys
from halocline.surfaces.cli.live.session import LiveSession

_PASTE_END = "\x1b[201~"
_CARD_KEYS = {"enter": ENTER, "up": UP, "down": DOWN, "tab": TAB} | {
    key: key for key in string.ascii_letters + string.digits
}


def bind_keys(actions: LiveActions, session: LiveSession, composer: LiveComposer, own: OwnKeys) -> KeyBindingsBase:
    """Build all key bindings, with the person's own. Those of a card win over those of the composer."""
    return merge_key_bindings(
        [
            _bind_actions(actions, composer, own),
            _bind_others(actions, own),
            _bind_editing(composer),
            _bind_card(session, composer),
        ]
    )


def _bind_actions(actions: LiveActions, composer: LiveComposer, own: OwnKeys) -> KeyBindings:
    keys = KeyBindings()
    is_empty = Condition(lambda: not composer.text and composer.request is None)
    can_go_back = Condition(lambda: actions.can_go_back)
    leaves_text = vi_mode & vi_insert_mode & ~is_empty & ~has_completions
    filters = {
        "show_keys": is_empty & ~is_searching,
        "go_to_board": can_go_back & ~is_searching,
        "interrupt": ~is_searching & ~leaves_text,
    }
    for row in own.rows:
        for combination in row.keys:
            _bind(keys, combination, getattr(actions, row.action), filters.get(row.action, ~is_searching))
    _bind(keys, ("down",), actions.advance, ~is_searching)
    return keys


def _bind_others(actions: LiveActions, own: OwnKeys) -> KeyBindings:
    """Bind the person's keys for slash commands, for actions of the line, and for nothing."""
    keys = KeyBindings()
    for combination, name in own.others.items():
        if name and name[0] != "/":
            keys.add(*combination)(get_by_name(name))
        else:
            _bind(keys, combination, partial(actions.run_command, name), ~is_searching)
    return keys


def _bind(keys: KeyBindings, combination: tuple[str, ...], action: Callable[[], object], when: Filter) -> None:
    @keys.add(*combination, filter=when)
    def act(event: KeyPressEvent) -> None:
        action()


def take_rest_of_paste(waiting: deque[KeyPress]) -> str:
    """Take what a pasted text holds behind an end that it wrote itself, from the keys that came with it.

    The terminal sends the true end last. No line in between may be sent as if Enter was pressed.
    """
    inside, end, _ = "".join(press.data for press in waiting).rpartition(_PASTE_END)
    left = len(inside) + len(end)
    while left > 0:
        left -= len(waiting.popleft().data)
    return inside.replace(_PASTE_END, "")


def _bind_editing(composer: LiveComposer) -> KeyBindings:
    keys = KeyBindings()

    @keys.add(Keys.BracketedPaste)
    def paste(event: KeyPressEvent) -> None:
        composer.paste(event.data + take_rest_of_paste(event.key_processor.input_queue))

    @keys.add("backspace", filter=Condition(lambda: bool(composer.chip_before_cursor())))
    def drop_chip(event: KeyPressEvent) -> None:
        composer.buffer.delete_before_cursor(len(composer.chip_before_cursor()))

    @keys.add("tab", filter=has_completions)
    def complete(event: KeyPressEvent) -> None:
        take_choice(composer.buffer)

    return keys


def _bind_card(session: LiveSession, composer: LiveComposer) -> KeyBindings:
    """Offer each key to the card that waits. The composer gets those that it leaves."""
    keys = KeyBindings()

    def wants(key: str) -> bool:
        card = session.card
        has_text = bool(composer.text) and not composer.repeats(key)
        return card is not None and composer.request is None and card.wants(key, has_text=has_text)

    def bind(name: str, key: str) -> None:
        @keys.add(name, filter=Condition(lambda: wants(key)) & ~is_searching & ~has_completions)
        def press(event: KeyPressEvent) -> None:
            repeats = composer.repeats(key)
            if session.card and session.card.press(key, repeats) and repeats:
                composer.clear()

    for name, key in _CARD_KEYS.items():
        bind(name, key)
    return keys
