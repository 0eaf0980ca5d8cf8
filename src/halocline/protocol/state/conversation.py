"""The conversation of a state: adds messages to it, those that were held back as well."""

from msgspec.structs import replace

from halocline.protocol.messages import Message, UserMessage, UserPart
from halocline.protocol.state.persistent import grow_series
from halocline.protocol.state.state import State


def add_message(state: State, message: Message) -> State:
    return replace(state, messages=grow_series(state.messages, message))


def add_notes(state: State, content: tuple[UserPart, ...]) -> State:
    """Add content to the conversation that no person typed."""
    return add_message(state, UserMessage(content)) if content else state


def hold_notes(state: State, content: tuple[UserPart, ...]) -> State:
    """Do the same once no call is open any more, since nothing may come between a call and its result."""
    pending = state.pending
    if not pending.calls:
        return add_notes(state, content)
    return replace(state, pending=replace(pending, interjected=(*pending.interjected, *content)))


def release_held(state: State) -> State:
    """Add the messages that were held back until the last call ended."""
    pending = state.pending
    if pending.calls or not (pending.gap or pending.interjected):
        return state
    released = replace(state, pending=replace(pending, gap=(), interjected=()))
    return add_notes(add_notes(released, pending.gap), pending.interjected)
