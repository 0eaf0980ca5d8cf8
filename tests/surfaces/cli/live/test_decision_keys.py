import random

import pytest

from halocline.surfaces.cli.live.decision_keys import (
    AIMED,
    ALONE,
    BEAT,
    DOWN,
    ENTER,
    GLANCE,
    LINE,
    LONGEST_STEP,
    NONE,
    SILENCE,
    TAB,
    UP,
    CalmClock,
    DecisionKeys,
    Opener,
    wait_after,
)
from halocline.surfaces.terminal.asking.menu import Kind

APPROVAL = ("y", "a", "s", "n", "t", "e", "\x1b")
RUNS = 1000
WORDS = ["a", "y", "s", "n", "e", "d", "A", "Y", "an", "as", "no", "yes", "any", "1", "2", "day", "stay", "always"]
EARLY = 0.1

NEVER = None
PROGRAM, PERSON = Opener.PROGRAM, Opener.PERSON
COUNTS = {
    # kind, opener, silence: what y, Enter, Enter behind an arrow and Enter behind text wait for
    (Kind.ORDINARY, PROGRAM, EARLY): (ALONE + SILENCE - EARLY, NEVER, 0.0, NEVER),
    (Kind.ORDINARY, PROGRAM, SILENCE): (ALONE, 0.0, 0.0, 0.0),
    (Kind.ORDINARY, PERSON, EARLY): (ALONE + GLANCE - EARLY, NEVER, 0.0, 0.0),
    (Kind.ORDINARY, PERSON, GLANCE): (ALONE, 0.0, 0.0, 0.0),
    (Kind.GRAVE, PROGRAM, EARLY): (NEVER, NEVER, 0.0, NEVER),
    (Kind.GRAVE, PROGRAM, SILENCE): (ALONE, 0.0, 0.0, 0.0),
    (Kind.GRAVE, PERSON, GLANCE): (NEVER, NEVER, 0.0, NEVER),
    (Kind.GRAVE, PERSON, SILENCE): (ALONE, 0.0, 0.0, 0.0),
    (Kind.QUESTION, PROGRAM, EARLY): (ALONE + SILENCE - EARLY, NEVER, 0.0, NEVER),
    (Kind.QUESTION, PROGRAM, SILENCE): (ALONE, 0.0, 0.0, 0.0),
    (Kind.OWN, PERSON, 0.0): (ALONE + GLANCE, NEVER, 0.0, 0.0),
    (Kind.OWN, PERSON, GLANCE): (ALONE, 0.0, 0.0, 0.0),
}


@pytest.mark.parametrize(("menu", "waits"), COUNTS.items())
def test_a_key_counts_by_the_menu_who_opened_it_and_the_silence_before_it(
    menu: tuple[Kind, Opener, float], waits: tuple[float | None, ...]
) -> None:
    kind, opener, silence = menu
    found = [wait_after(kind, opener, key, silence) for key in ("y", ENTER, AIMED, LINE)]
    assert found == [None if wait is None else pytest.approx(wait) for wait in waits]
    assert wait_after(kind, opener, UP, 0.0) == wait_after(kind, opener, DOWN, 0.0) == 0.0


class Typist:
    """Types into a composer below a card that appears at time 0."""

    def __init__(
        self,
        selected: int = 3,
        keys: tuple[str, ...] = APPROVAL,
        kind: Kind = Kind.ORDINARY,
        opener: Opener = Opener.PROGRAM,
    ) -> None:
        self.now = 0.0
        self.text = ""
        self.card = DecisionKeys(keys, selected, 0.0, kind, opener)
        self.decided: list[str] = []
        self.lines: list[tuple[str, bool]] = []

    def wait(self, seconds: float) -> "Typist":
        """Let time pass; a held key decides once it was alone."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + BEAT / 2)
            if key := self.card.decide(self.now):
                self.decided.append(key)
        return self

    def press(self, key: str) -> "Typist":
        self.text += self.card.release()
        has_text = bool(self.text)
        if self.card.wants(key, self.now, has_text=bool(self.text.replace(key, ""))):
            repeats = self.text if not self.text.replace(key, "") else ""
            self.text = self.text[len(repeats) :]
            self.card.press(key, self.now, repeats)
        elif key == ENTER:
            self.lines.append((self.text, self.card.takes_line(self.text, self.now)))
            self.text = ""
        elif len(key) == 1:
            self.text += key
        self.card.note_key(self.now, has_text=has_text)
        return self

    def types(self, text: str, pace: float = 0.1) -> "Typist":
        for key in text:
            self.press(key).wait(pace)
        return self


def type_blindly(seed: int) -> list[str]:
    """Sentences of one who does not look: words in a flow, pauses for thought, and Enter at the end of each."""
    chance = random.Random(seed)
    typist = Typist(chance.choice([NONE, 3]), kind=chance.choice([*Kind]), opener=chance.choice([*Opener]))
    typist.wait(chance.uniform(0, 0.5))
    for _ in range(chance.randint(2, 5)):
        for _ in range(chance.randint(2, 7)):
            typist.wait(chance.uniform(0.3, 1.6) if chance.random() < 0.3 else 0)
            for key in chance.choice(WORDS) + " ":
                typist.press(key).wait(chance.uniform(0.03, 0.25))
        typist.press(ENTER).wait(chance.uniform(0.03, 0.25))
    return typist.decided


def test_a_thousand_people_who_type_blindly_decide_nothing() -> None:
    assert [(seed, decided) for seed in range(RUNS) if (decided := type_blindly(seed))] == []


@pytest.mark.parametrize(("key", "option"), [("y", "y"), ("A", "a"), ("1", "y"), ("4", "n"), (ENTER, "n")])
def test_a_key_pressed_alone_in_silence_decides(key: str, option: str) -> None:
    assert Typist().wait(SILENCE).press(key).wait(1).decided == [option]


@pytest.mark.parametrize(("key", "decided"), [("2", ["2"]), ("3", []), ("4", [])])
def test_a_digit_that_is_no_number_of_a_question_is_text(key: str, decided: list[str]) -> None:
    typist = Typist(NONE, ("1", "2", "t", "\x1b"), Kind.QUESTION).wait(SILENCE).press(key).wait(1)
    assert (typist.decided, typist.text) == (decided, "" if decided else key)


def test_a_key_that_comes_too_early_decides_later_unless_another_one_follows() -> None:
    typist = Typist().wait(0.2).press("y").wait(SILENCE)
    assert typist.decided == []
    assert typist.wait(0.2).decided == ["y"]
    typist = Typist().wait(0.2).press("y").wait(SILENCE).press("o").wait(2)
    assert (typist.decided, typist.text) == ([], "yo")


def test_where_it_is_grave_a_key_that_comes_too_early_is_text() -> None:
    typist = Typist(kind=Kind.GRAVE).wait(SILENCE - 0.1).press("y").wait(2)
    assert (typist.decided, typist.text) == ([], "y")


def test_enter_counts_at_once_behind_an_arrow_that_came_in_silence() -> None:
    assert Typist().wait(SILENCE).press(DOWN).wait(0.05).press(DOWN).wait(0.05).press(ENTER).wait(0.05).decided == ["e"]
    assert Typist().wait(0.2).press(UP).wait(0.2).press(ENTER).wait(1).decided == []


def test_in_a_menu_that_the_person_opened_keys_need_no_silence_but_a_bounce_decides_nothing() -> None:
    menu = {"kind": Kind.OWN, "opener": Opener.PERSON, "selected": 0}
    assert Typist(**menu).wait(0.2).press(DOWN).press(ENTER).wait(0.1).decided == ["a"]  # type: ignore[arg-type]
    assert Typist(**menu).wait(0.2).press("n").wait(0.35).decided == ["n"]  # type: ignore[arg-type]
    assert Typist(**menu).wait(0.05).press(ENTER).wait(1).decided == []  # type: ignore[arg-type]


def test_a_line_answers_if_it_was_begun_in_silence_or_is_sent_again() -> None:
    assert Typist().wait(SILENCE).types("y").press(ENTER).lines == [("y", True)]
    assert Typist(kind=Kind.QUESTION).wait(SILENCE).types("both of them").press(ENTER).lines == [("both of them", True)]
    typist = Typist(kind=Kind.QUESTION)
    typist.text = "begun bef"
    assert typist.wait(1).types("ore").press(ENTER).lines == [("begun before", False)]
    typist.text = "begun before"
    assert typist.wait(0.2).press(ENTER).lines[1:] == [("begun before", False)]
    typist.text = "begun before"
    assert typist.wait(SILENCE).press(ENTER).lines[2:] == [("begun before", True)]
    typist.text = "begun before, and more"
    assert typist.wait(SILENCE).press(ENTER).lines[3:] == [("begun before, and more", False)]


def test_the_same_key_again_and_again_is_one_decision_once_it_stops_and_text_if_another_follows() -> None:
    assert Typist().wait(0.2).types("yyy", 0.25).decided == []
    assert Typist().wait(0.2).types("yyy", 0.25).wait(SILENCE).decided == ["y"]
    typist = Typist().wait(SILENCE).types("ssh", 0.25).wait(2)
    assert (typist.decided, typist.text) == ([], "ssh")


def test_a_key_that_another_one_follows_is_text_and_so_is_that() -> None:
    typist = Typist().wait(1).press("a").wait(0.1).press("n").wait(2)
    assert (typist.decided, typist.text) == ([], "an")


def test_with_text_in_the_composer_keys_are_text_until_the_person_goes_to_the_card() -> None:
    typist = Typist()
    typist.text = "my draft"
    assert typist.wait(1).press("y").wait(1).decided == []
    assert typist.press(TAB).wait(0.2).press("y").wait(0.4).decided == ["y"]
    assert typist.text == "my drafty"


def test_a_key_for_the_composer_leaves_the_card() -> None:
    typist = Typist()
    typist.text = "my draft"
    typist.wait(1).press(TAB).wait(1).press("x").wait(1).press("y").wait(1)
    assert (typist.decided, typist.text) == ([], "my draftxy")


def test_arrows_go_round_and_nothing_is_selected_at_first_where_no_option_is_safe() -> None:
    card = Typist(selected=NONE)
    assert card.wait(1).press(ENTER).wait(1).decided == []
    assert card.press(UP).wait(1).press(ENTER).wait(1).decided == ["\x1b"]
    assert Typist(selected=NONE).wait(1).press(DOWN).wait(1).press(ENTER).wait(1).decided == ["y"]


class Watch:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def test_while_the_program_is_busy_no_silence_passes() -> None:
    watch = Watch()
    clock = CalmClock(watch)
    for _ in range(10):
        watch.time += 0.1
        clock.now()
    assert clock.now() == pytest.approx(1.0)
    watch.time += 5
    assert clock.now() == pytest.approx(1.0 + LONGEST_STEP)


def test_a_key_typed_while_the_program_is_busy_decides_nothing_when_it_arrives() -> None:
    watch = Watch()
    clock = CalmClock(watch)
    card = DecisionKeys(APPROVAL, 3, clock.now(), Kind.GRAVE)
    card.note_key(clock.now())
    watch.time += 5
    assert not card.wants("a", clock.now(), has_text=False)
