"""What a process that reads too slowly still gets from a task's socket."""

from halocline.protocol import ipc
from halocline.protocol.events import Noticed, TextDelta, TurnEnded
from halocline.protocol.messages import StopReason
from halocline.runtime.attach.server import Peer
from halocline.task.stream import QUEUE_LIMIT


def durable(seq: int) -> TurnEnded:
    return TurnEnded(reason=StopReason.END_TURN, seq=seq)


async def frames(peer: Peer) -> list[ipc.Frame]:
    peer.close()
    return [frame async for frame in peer.live()]


async def test_text_and_positions_of_the_log_merge_while_the_peer_is_busy() -> None:
    peer = Peer(1, ipc.Introduction())
    for event in (durable(1), durable(2), TextDelta("He"), TextDelta("llo."), durable(3)):
        peer.push(event)
    assert await frames(peer) == [ipc.Reached(2), TextDelta("Hello."), ipc.Reached(3)]


async def test_an_overflow_keeps_every_answer_and_the_last_position_of_the_log() -> None:
    peer = Peer(1, ipc.Introduction())
    peer.answer("first")
    peer.push(durable(7))
    for number in range(QUEUE_LIMIT):
        peer.push(Noticed(str(number)))
    peer.answer("second")
    found = await frames(peer)
    assert [one for one in found if not isinstance(one, Noticed)] == [
        ipc.Answered("first"),
        ipc.Reached(7),
        ipc.Answered("second"),
    ]
    assert len(found) < QUEUE_LIMIT
