from contextlib import closing

import pytest

from halocline.protocol import codec, events as ev
from halocline.protocol.messages import AssistantMessage, StopReason, Text, Thinking
from halocline.protocol.state.draft import DRAFT_ENDS
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.task.log import Log, LogUnwritable, read_log, read_past
from halocline.task.running_reply import REPLY_NAME, has_reply

PIECES = (
    ev.ThinkingDelta("Let me "),
    ev.ThinkingDelta("see."),
    ev.TextDelta("Löss 🌍 is "),
    ev.TextDelta("a soil."),
    ev.TextDelta("An", apart=True),
    ev.TextDelta("d rich."),
)
KEPT = (Thinking("Let me see."), Text("Löss 🌍 is a soil."), Text("And rich."))
ENDS = {
    ev.StepStarted: ev.StepStarted(model="m"),
    ev.AssistantMessageCompleted: ev.AssistantMessageCompleted(message=AssistantMessage((Text("Whole."),))),
    ev.TurnEnded: ev.TurnEnded(reason=StopReason.CANCELLED),
    ev.TurnResumed: ev.TurnResumed(content=()),
}


class Reader:
    """A client that looks, with each piece that it is sent, at what a killed process would leave."""

    def __init__(self, folder):
        self.folder = folder
        self.seen, self.left = "", []

    def push(self, event):
        if isinstance(event, ev.TextDelta | ev.ThinkingDelta):
            self.seen += event.text
            lines = (self.folder / REPLY_NAME).read_bytes().split(b"\n")[1:-1]
            self.left.append(self.seen == "".join(codec.json_input.Decoder().decode(line)["text"] for line in lines))

    def close(self):
        pass


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "t"


def streamed(folder, pieces=PIECES, redact=lambda text: text, then=()):
    """Stream a reply, and leave what a process leaves that is killed then."""
    with closing(Log(folder, "t")) as log:
        log.leaves_out(redact)
        log.append(ev.ModelChanged(model="m"))
        log.append(ev.StepStarted(model="m"))
        for event in (*pieces, *then):
            log.append(event) if isinstance(event, ev.Durable) else log.show(event)
    return folder / REPLY_NAME


def replies(events):
    return [event.message for event in events if isinstance(event, ev.AssistantMessageCompleted)]


def test_a_piece_is_kept_before_a_client_gets_it(folder):
    with closing(Log(folder, "t")) as log:
        log.attach(reader := Reader(folder))
        log.append(ev.StepStarted(model="m"))
        for piece in PIECES:
            log.show(piece)
    assert reader.left == [True] * len(PIECES)


def test_what_was_shown_is_an_interrupted_message_for_the_next_writer_and_for_every_reader(folder):
    streamed(folder)
    expected = AssistantMessage(KEPT, model="m", stop_reason=StopReason.CANCELLED, interrupted=True)
    assert replies(read_past(folder, "t")) == [expected]
    assert replies(read_past(folder, "t")) == [expected]
    with closing(Log(folder, "t")) as log:
        assert replies(log.load()) == [expected]
    assert not (folder / REPLY_NAME).exists()


def test_a_reader_takes_nothing_from_a_process_that_writes(folder):
    streamed(folder)
    with closing(Log(folder, "t")):
        assert replies(read_past(folder, "t")) == []
        assert (folder / REPLY_NAME).exists()
    assert len(replies(read_past(folder, "t"))) == 1


def test_a_home_that_cannot_be_written_can_still_be_read(folder):
    (streamed(folder).parent / "lock").unlink()
    (folder / "lock").mkdir()
    assert [type(event) for event in read_past(folder, "t")] == [ev.ModelChanged, ev.StepStarted]


def test_exactly_the_events_that_end_a_draft_end_the_reply():
    draft = reduce_event(State(), ev.TextDelta("x"))
    kinds = [kind for kind in ev.DurableEvent.__args__ if kind in ENDS or _is_plain(kind)]
    clearing = {kind for kind in kinds if reduce_event(draft, ENDS.get(kind) or kind()).draft is None}
    assert clearing == set(DRAFT_ENDS) == set(ENDS)


def _is_plain(kind):
    """True if it can be made without fields, as most events that concern no reply can."""
    try:
        kind()
    except TypeError:
        return False
    return kind is not ev.ConversationRestored


@pytest.mark.parametrize("end", [*ENDS.values(), ev.StepRetried(attempt=1, wait=0.0, cause="busy")], ids=repr)
def test_a_reply_that_has_ended_leaves_nothing_to_show_again(folder, end):
    path = streamed(folder, then=(end,))
    assert not path.exists()


@pytest.mark.parametrize("end", ENDS.values(), ids=repr)
def test_a_file_that_was_left_although_the_reply_has_ended_is_not_shown_again(folder, end):
    old = streamed(folder).read_bytes()
    before = list(read_log(folder / codec.LOG_NAME))
    with closing(Log(folder, "t")) as log:
        log.seq = len(before)
        log.append(end)
    (folder / REPLY_NAME).write_bytes(old)
    assert [event.seq for event in read_past(folder, "t")] == [1, 2, 3]
    assert not (folder / REPLY_NAME).exists()


def test_a_second_reply_is_kept_without_the_first(folder):
    streamed(folder, then=(ENDS[ev.AssistantMessageCompleted], ev.StepStarted(model="n"), ev.TextDelta("Next")))
    assert [(reply.text, reply.model) for reply in replies(read_past(folder, "t"))] == [("Whole.", ""), ("Next", "n")]


def test_between_two_replies_there_is_none(folder):
    with closing(Log(folder, "t")) as log:
        log.append(ev.StepStarted(model="m"))
        log.show(PIECES[0])
        assert has_reply(folder)
        log.append(ENDS[ev.AssistantMessageCompleted])
        assert not has_reply(folder)
        log.show(PIECES[0])
        assert has_reply(folder)


def test_a_torn_end_leaves_the_pieces_before_it(folder, tmp_path):
    data = streamed(folder).read_bytes()
    texts = ["", *("".join(piece.text for piece in PIECES[:count]) for count in range(1, len(PIECES) + 1))]
    log = (folder / codec.LOG_NAME).read_bytes()
    for cut in range(len(data) + 1):
        torn = tmp_path / f"cut-{cut}"
        torn.mkdir()
        (torn / codec.LOG_NAME).write_bytes(log)
        (torn / REPLY_NAME).write_bytes(data[:cut])
        shown = "".join(part.text for reply in replies(read_past(torn, "t")) for part in reply.content)
        assert shown == texts[max(0, data[:cut].count(b"\n") - 1)]


@pytest.mark.parametrize("size", [1, 3, 7, 40])
def test_a_secret_that_comes_in_pieces_is_not_kept(folder, size):
    text = "The key is hunter2-and-more, and again hunter2-and-more. Use it."
    pieces = [ev.TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    path = streamed(folder, pieces, lambda said: said.replace("hunter2-and-more", "[hidden]"))
    assert b"hunter2" not in b"".join(path.read_bytes().split(b'"'))
    (reply,) = replies(read_past(folder, "t"))
    assert reply.text == "The key is [hidden], and again [hidden]. Use it."
    assert [entry.name for entry in folder.iterdir() if entry.name.startswith(REPLY_NAME)] == []


def test_a_piece_that_cannot_be_kept_is_not_shown(folder):
    folder.mkdir()
    (folder / REPLY_NAME).mkdir()
    with closing(Log(folder, "t")) as log:
        log.attach(reader := Reader(folder))
        with pytest.raises(LogUnwritable):
            log.show(ev.TextDelta("x"))
    assert reader.seen == ""
