"""Tool calls as Chat Completions servers really stream them: with gaps, late or repeated ids, names in pieces.

A fragment belongs to the call with its index, unless its id shows that a new call began there; without an index the id
decides; with neither it continues the newest call, or starts one if that is complete.
"""

from typing import Any

import msgspec

from halocline.ports.model import ModelEvent
from halocline.providers.json_cache import encode_json
from halocline.providers.openai_chat.opaque import CALL_FIELDS
from halocline.providers.reply import CallDraft, CallIds, parse_arguments


class FunctionFragment(msgspec.Struct):
    """`arguments` is JSON text in pieces; a few servers send the object itself."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class CallFragment(msgspec.Struct):
    index: int | None = None
    id: str | None = None
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
        name = function.name or ""
        draft = self._find(fragment, name) or self._begin(fragment.index)
        if fragment.id and not draft.sent_id:
            draft.sent_id = fragment.id
            draft.id = self._ids.claim(fragment.id)
        if name and not draft.pieces and name != draft.name:
            draft.name += name
        if text := _arguments_text(function.arguments):
            draft.pieces.append(text)
        for field in CALL_FIELDS:
            if value := getattr(fragment, field):
                draft.opaque[field] = value
        return draft.preview()

    def _begin(self, index: int | None) -> CallDraft:
        draft = CallDraft()
        self.drafts.append(draft)
        if index is not None:
            self._by_index[index] = draft
        return draft

    def _find(self, fragment: CallFragment, name: str) -> CallDraft | None:
        """Find the call that a fragment continues; None when it begins one."""
        if fragment.index is not None:
            draft = self._by_index.get(fragment.index)
        elif fragment.id:
            return next((draft for draft in self.drafts if draft.sent_id == fragment.id), None)
        else:
            draft = self.drafts[-1] if self.drafts else None
        if draft is None or _begins_anew(draft, fragment, name):
            return None
        return draft


def _begins_anew(draft: CallDraft, fragment: CallFragment, name: str) -> bool:
    """True if a fragment in `draft`'s place is another call: another id, or a name after a complete call."""
    if fragment.id and draft.sent_id:
        return fragment.id != draft.sent_id
    return bool(name and draft.pieces) and parse_arguments(draft.arguments) is not None


def _arguments_text(arguments: str | dict[str, Any] | None) -> str:
    return encode_json(arguments).decode() if isinstance(arguments, dict) else arguments or ""
