"""Tool calls as Chat Completions servers really stream them: with gaps, late or repeated ids, names in pieces.

Only an id or a name begins a call. Its place decides what a fragment continues: the index, or the id; a fragment in a
place where nothing began belongs to the newest call, because some servers count chunks or all calls as one.
"""

from typing import Any

import msgspec

from halocline.ports.model import ModelEvent
from halocline.providers.openai_chat.opaque import CALL_FIELDS
from halocline.providers.reply import CallDraft, CallIds, read_json_text, read_number, read_word


class FunctionFragment(msgspec.Struct):
    """`arguments` is JSON text in pieces; a few servers send the object itself."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class CallFragment(msgspec.Struct):
    index: Any = None
    id: Any = None
    function: FunctionFragment | None = None
    extra_content: Any = None
    provider_specific_fields: Any = None


class Calls:
    """The calls of one reply, in the order they began."""

    def __init__(self, ids: CallIds) -> None:
        self.drafts: list[CallDraft] = []
        self._ids = ids
        self._by_index: dict[int, CallDraft] = {}

    def add(self, fragment: CallFragment) -> tuple[ModelEvent, ...]:
        """Add a fragment to its call and return what can now be shown."""
        function = fragment.function or FunctionFragment()
        index, id, name = read_number(fragment.index), read_word(fragment.id), function.name or ""
        text = read_json_text(function.arguments)
        draft = self._find(index, id, name, text)
        if draft is None:
            if not (id or name or text):
                return ()
            draft = CallDraft()
            self.drafts.append(draft)
            if index is not None:
                self._by_index[index] = draft
        if id and not draft.sent_id:
            draft.sent_id = id
            draft.id = self._ids.claim(id)
        if name and name != draft.name and not (draft.name and draft.pieces):
            draft.name += name
        if text:
            draft.pieces.append(text)
        for field in CALL_FIELDS:
            if value := getattr(fragment, field):
                draft.opaque[field] = value
        return draft.preview()

    def _find(self, index: int | None, id: str, name: str, text: str) -> CallDraft | None:
        """Find the call that a fragment continues; None when it begins one."""
        here = self._by_index.get(index) if index is not None else None
        known = next((draft for draft in reversed(self.drafts) if id and draft.sent_id == id), None)
        newest = self.drafts[-1] if self.drafts else None
        if known is not None:
            return None if known is not here and name and known.is_whole else known
        if id and here is None:
            return None
        draft = here or (None if index is not None and name else newest)
        return None if draft is None or _begins_anew(draft, id, name, text) else draft


def _begins_anew(draft: CallDraft, id: str, name: str, text: str) -> bool:
    """True if a fragment in `draft`'s place is another call: another id, or a name after a whole call.

    Where ids change with each piece, arguments without a name go on.
    """
    if id and draft.sent_id and id != draft.sent_id:
        return not (text and not name and draft.name and not draft.is_whole)
    return bool(name and draft.name and draft.is_whole)
