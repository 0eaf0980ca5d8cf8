"""Several edits of one reply: what each will ask is foreseen, and those that were shown are allowed by one key."""

import io
from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace
from rich.console import Console

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice
from halocline.protocol.messages import Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.surfaces.edits_together import asks_the_same
from halocline.surfaces.terminal.asking.approval_prompt import Asker
from halocline.surfaces.terminal.asking.edit_batch import EditBatch
from halocline.surfaces.terminal.drawing.screen import Screen

ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
DONE = Turn(text="done")
WINDOW = 40


def edit(path, old, new):
    return Call("replace_in_file", {"path": path, "old_text": old, "new_text": new})


def write(path, content):
    return Call("write_to_file", {"path": path, "content": content})


def remove(path):
    return Call("apply_patch", {"input": f"*** Begin Patch\n*** Delete File: {path}\n*** End Patch"})


FIVE = (
    edit("a.txt", "one", "ONE"),
    edit("b.txt", "one", "ONE"),
    edit("a.txt", "two", "TWO"),
    write("new.txt", "fresh\n"),
    edit("new.txt", "fresh", "FRESH"),
)
FILES = {"a.txt": "one\ntwo\nthree\n", "b.txt": "one\r\ntwo\r\n"}
CHANGED = {"a.txt": "ONE\nTWO\nthree\n", "b.txt": "ONE\r\ntwo\r\n", "new.txt": "FRESH\n"}


class Person:
    """Presses these keys at the cards of one view, each after `before`. `asked`: titles and options of the cards."""

    def __init__(self, keys: Sequence[str], before: Callable[[], object] = lambda: None) -> None:
        self._keys = list(keys)
        self._before = before
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.file = io.StringIO()
        self.screen = Screen(Console(file=self.file, width=80, height=WINDOW, force_terminal=True, color_system=None))
        self.batch = EditBatch(self.screen)

    async def choose(self, title, options, on_card=(), selected="", kind=None):
        self.asked.append((title, dict(options)))
        self._before()
        return self._keys.pop(0)

    async def ask_line(self, prompt, hint="", initial="", *, needs_text=False):
        return ""

    async def edit_files(self, paths): ...

    def put_back(self, message): ...

    def call_person(self, text): ...

    async def decide(self, client, event):
        async def write_nothing(before):
            return None

        await self.batch.edits.follow(client, event.task, event)
        decision = await Asker(self.screen, self).ask_approval(event, write_nothing, None, self.batch)
        return decision.resolve(event.task, event.request)

    @property
    def places(self) -> list[str]:
        return [title.partition(" · ")[0] for title, _ in self.asked]

    @property
    def offers(self) -> list[str]:
        return [options.get("s", "") for _, options in self.asked]


async def work(journey, calls, person, prompts=("go",), meanwhile=None, *, stops=False):
    """Run a task in which the person decides, and `stops` it after the first decision of the first turn.

    `meanwhile` is called with each event that asks.
    """
    for name, text in FILES.items():
        journey.write(name, text)
    client = journey.client([*(Turn(calls=calls) for _ in prompts), DONE])
    try:
        await journey.open(client, ASK)
        for prompt in prompts:
            sent = client.state(journey.task).seq
            client.send(cmd.SubmitPrompt(task=journey.task, content=(Text(prompt),)))
            async for event in client.events(journey.task, sent):
                person.screen.show(event)
                journey.events.append(event)
                if isinstance(event, ev.ApprovalRequested):
                    if meanwhile:
                        await meanwhile(client, event)
                    client.send(await person.decide(client, event))
                    if stops and prompt == prompts[0]:
                        client.send(cmd.Interrupt(task=journey.task, turn=client.state(journey.task).turn.seq))
                if isinstance(event, ev.TurnEnded):
                    break
    finally:
        await client.close()
    return {path.name: path.read_bytes().decode() for path in journey.workspace.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "calls",
    [
        FIVE,
        (edit("a.txt", "one", "1"), edit("a.txt", "absent", "?"), edit("a.txt", "1", "I")),
        (write("n.txt", "n\n"), Call("read_file", {"path": "a.txt"}), remove("b.txt"), edit("a.txt", "two", "2")),
        (edit("a.txt", "two\n", ""), edit("a.txt", "three\n", "3\n"), edit("b.txt", "two", "2")),
    ],
    ids=["five", "one fails", "between others", "lines move"],
)
async def test_what_the_edits_of_a_reply_will_ask_is_foreseen(journey, calls):
    foreseen = []

    async def look(client, event):
        if not foreseen:
            foreseen.extend(await client.list_edits_ahead(event.task, event.request))

    await work(journey, calls, Person("y" * 9), meanwhile=look)
    asked = journey.of(ev.ApprovalRequested)[1:]
    assert len(foreseen) == len(asked) > 0
    assert [event.title for one, event in zip(foreseen, asked, strict=True) if not asks_the_same(one, event)] == []


async def test_edits_that_are_in_sight_are_allowed_by_one_key_and_each_is_shown_once(journey):
    person = Person("s")
    assert await work(journey, FIVE, person) == CHANGED
    assert (person.places, person.offers) == (["1 of 5"], ["allow all 5 shown"])
    assert [one.decision for one in journey.of(ev.ApprovalResolved)] == [Choice.ALLOW_ONCE] * 5
    shown = person.file.getvalue()
    assert [shown.count(f"+ {text}\n") for text in ("ONE", "TWO", "fresh", "FRESH")] == [2, 1, 1, 1]
    assert shown.count("applied") == 5


async def test_edits_that_have_no_room_are_shown_by_the_key_that_then_allows_them(journey):
    long = "".join(f"{number}\n" for number in range(WINDOW))
    person = Person("ss")
    found = await work(journey, (edit("a.txt", "one", "ONE"), write("long.txt", long)), person)
    assert (found["a.txt"], found["long.txt"]) == ("ONE\ntwo\nthree\n", long)
    assert person.offers == ["show 1 more edit of this reply, then allow all", "allow all 2 shown"]


async def test_decided_one_by_one_each_edit_says_which_of_how_many_it_is(journey):
    person = Person("yyyyy")
    assert await work(journey, FIVE, person) == CHANGED
    assert person.places == [f"{number} of 5" for number in range(1, 6)]
    assert person.offers[1:] == ["allow all 4 shown", "allow all 3 shown", "allow all 2 shown", ""]


async def test_what_is_no_ordinary_edit_is_asked_about_alone(journey):
    outside = write(str(journey.workspace.parent / "outside.txt"), "x\n")
    command = Call("execute_command", {"command": "touch made"})
    person = Person("syn")
    await work(journey, (FIVE[0], outside, FIVE[1], command), person)
    assert person.offers == ["allow all 2 shown", "", ""]
    assert [one.decision for one in journey.of(ev.ApprovalResolved)] == [*[Choice.ALLOW_ONCE] * 3, Choice.REJECT_ONCE]


async def test_an_edit_that_would_do_something_else_than_was_shown_is_asked_about_again(journey):
    person = Person("sn", lambda: journey.write("b.txt", "zero\none\n"))
    found = await work(journey, FIVE[:2], person)
    assert (person.places, found["b.txt"]) == (["1 of 2", "2 of 2"], "zero\none\n")
    assert person.file.getvalue().count("Shown again, as it changes the file otherwise now") == 1


async def test_what_was_allowed_in_a_reply_that_was_stopped_counts_for_no_other(journey):
    first = replace(edit("a.txt", "one\ntwo", "zero\none\ntwo"), id="1")
    person = Person("syn")
    found = await work(journey, (first, replace(FIVE[1], id="2")), person, prompts=("go", "again"), stops=True)
    assert (person.places, found["b.txt"]) == (["1 of 2", "1 of 2", "2 of 2"], FILES["b.txt"])
