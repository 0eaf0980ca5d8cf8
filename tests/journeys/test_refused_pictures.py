"""Servers that refuse pictures, in their own words or without any: the task goes on, and later turns work."""

import struct
import zlib

import pytest
from tests.journeys.conftest import NO_SERVERS
from tests.journeys.soundness import assert_sound
from tests.journeys.test_wire import KEYS, MODELS
from tests.servers.model_server import ModelServer, Refusal

from halocline.client.tasks import Client
from halocline.context.compaction.view import build_view
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Image, StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

FAMILIES = [family for family in MODELS if not family.startswith("azure")]
READS = [Turn(calls=(Call("read_file", {"path": "a.png"}),)), Turn(text="I cannot see it."), Turn(text="Gone on.")]
NAMED = {"error": {"message": "Could not process image"}}
NAMELESS = {"error": {"message": "Bad Request"}}
BEGINNING = b"iVBORw0KGgo"
"""The first bytes of a PNG file in base64."""


def png(width=2, height=2, colour=(255, 0, 0)):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes(colour) * width) * height
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def count_pictures(request):
    return request.raw.count(BEGINNING)


def refusing(document, status=400, most=0):
    """Refuse every request with more than `most` pictures."""
    return lambda request: Refusal(status, document) if count_pictures(request) > most else None


class Visit:
    """A task at a server of one family."""

    def __init__(self, journey, server, family, **settings):
        self.journey = journey
        journey.settings = Settings(
            **{"base_url": server.url(family), "checkpoints": False, "language_servers": NO_SERVERS, **settings}
        )
        self.options = TaskOptions(model=MODELS[family], approval_mode=ApprovalMode.YOLO)

    def client(self):
        return Client(Controller(Assembly(self.journey.home, self.journey.settings, KEYS)), "test")

    async def say(self, prompt, resume=""):
        await self.journey.run(prompt=prompt, client=self.client(), options=self.options, resume=resume)
        return self.journey.state.last_end


@pytest.mark.parametrize("document", [NAMED, NAMELESS], ids=["in words", "without a reason"])
@pytest.mark.parametrize("family", FAMILIES)
async def test_a_picture_that_is_refused_is_left_out_and_the_task_lives(journey, family, document):
    journey.write("a.png", png())
    async with ModelServer(READS, refuses=refusing(document)) as server:
        visit = Visit(journey, server, family)
        assert (await visit.say("look at it")).reason is StopReason.END_TURN, journey.of(ev.ErrorRaised)
        (left_out,) = journey.of(ev.PicturesLeftOut)
        assert left_out.model == MODELS[family]
        assert document["error"]["message"] in left_out.cause
        assert [count_pictures(request) for request in server.requests] == [0, 1, 0]
        assert (await visit.say("go on without it", resume=journey.task)).reason is StopReason.END_TURN
        assert count_pictures(server.requests[-1]) == 0
        assert len(server.requests) == 4
    kept = [part for message in journey.state.messages for part in message.content if isinstance(part, Image)]
    assert len(kept) == 1
    assert_sound(journey.logged)


async def test_only_the_newest_pictures_are_left_out_if_that_is_enough(journey):
    for name in ("a.png", "b.png"):
        journey.write(name, png(colour=(1, 2, ord(name[0]))))
    turns = [Turn(calls=(Call("read_file", {"path": name}),)) for name in ("a.png", "b.png")]
    async with ModelServer([*turns, Turn(text="Seen one.")], refuses=refusing(NAMED, most=1)) as server:
        assert (await Visit(journey, server, "anthropic").say("look")).reason is StopReason.END_TURN
        assert [count_pictures(request) for request in server.requests] == [0, 1, 2, 1]
    (left_out,) = journey.of(ev.PicturesLeftOut)
    newest = journey.of(ev.ToolCallEnded)[-1].result.content
    assert left_out.blobs == tuple(part.blob for part in newest if isinstance(part, Image))


async def test_a_model_that_takes_no_pictures_at_all_goes_on_without_any(journey):
    for name in ("a.png", "b.png"):
        journey.write(name, png(colour=(1, 2, ord(name[0]))))
    turns = [Turn(calls=(Call("read_file", {"path": name}),)) for name in ("a.png", "b.png")]
    blind = []
    refuse = refusing(NAMED)
    async with ModelServer(
        [*turns, Turn(text="Seen.")], refuses=lambda request: refuse(request) if len(blind) >= 3 else blind.append(1)
    ) as server:
        visit = Visit(journey, server, "openai")
        assert (await visit.say("look")).reason is StopReason.END_TURN
        server._turns.append(Turn(text="Blind."))
        assert (await visit.say("and now", resume=journey.task)).reason is StopReason.END_TURN
        assert [count_pictures(request) for request in server.requests] == [0, 1, 2, 2, 0]
    assert len(journey.of(ev.PicturesLeftOut)[-1].blobs) == 2


async def test_a_refusal_that_is_no_matter_of_pictures_ends_the_turn_and_leaves_them(journey):
    journey.write("a.png", png())
    broken = []

    def refuse(request):
        broken.append(request)
        return Refusal(400, NAMELESS) if len(broken) > 1 else None

    async with ModelServer(READS, refuses=refuse) as server:
        assert (await Visit(journey, server, "openai").say("look at it")).reason is StopReason.ERROR
    assert len(broken) == 3  # once more without the picture, which did not help
    assert journey.of(ev.PicturesLeftOut) == []
    assert "Bad Request" in journey.of(ev.ErrorRaised)[-1].text


async def test_another_model_reads_the_pictures_that_one_refused(journey):
    journey.write("a.png", png())
    async with ModelServer(READS, refuses=refusing(NAMED)) as server:
        await Visit(journey, server, "openai").say("look at it")
    async with ModelServer([Turn(text="A red square.")]) as server:
        visit = Visit(journey, server, "anthropic")
        assert (await visit.say("and you?", resume=journey.task)).reason is StopReason.END_TURN
        assert count_pictures(server.requests[-1]) == 1


async def test_a_person_takes_the_pictures_out_for_every_model(journey):
    journey.write("a.png", png())
    async with ModelServer(READS) as server:
        visit = Visit(journey, server, "openai")
        client = visit.client()
        try:
            await journey.open(client, visit.options)
            await journey.prompt(client, "look at it")
            assert count_pictures(server.requests[-1]) == 1
            assert client.send(cmd.DropPictures(task=journey.task))
            assert not client.send(cmd.DropPictures(task=journey.task))  # there is none left
            await journey.prompt(client, "go on")
        finally:
            await client.close()
        assert count_pictures(server.requests[-1]) == 0
    assert "left out" in str(build_view(journey.state))
