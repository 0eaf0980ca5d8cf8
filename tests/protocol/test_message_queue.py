from halocline.protocol.messages import Text
from halocline.protocol.state.message_queue import QueuedMessage, QueueState


def message(number: int, **more: bool) -> QueuedMessage:
    return QueuedMessage(number, (Text("words"),), **more)


def test_a_key_sends_what_was_just_queued_before_what_is_held() -> None:
    steering, held, fresh = message(1, steers=True), message(2, is_held=True), message(3)
    assert QueueState((steering, held, fresh)).next_for_person == fresh
    assert QueueState((steering, held)).next_for_person == held
    assert QueueState((steering,)).next_for_person is None
