import random

import pytest

from halocline.surfaces.cli.live.decision_keys import (
    ALONE,
    BEAT,
    DOWN,
    ENTER,
    LONGEST_STEP,
    NONE,
    SILENCE,
    TAB,
    UP,
    CalmClock,
    DecisionKeys,
)

APPROVAL = ("y", "a", "s", "n", "t", "e", "\x1b")
RUNS = 1000
WORDS = ["a", "y", "s", "n", "e", "d", "A", "Y", "an", "as", "no", "yes", "any", "1", "2", "day", "stay", "always"]


class Typist:
    """Types into a composer below a card that appears at time 0."""

    def __init__(self, selected: int = 3, keys: tuple[str, ...] = APPROVAL) -> None:
        self.now = 0.0
        self.text = ""
        self.card = DecisionKeys(keys, selected, 0.0)
        self.decided: list[str] = []

    def wait(self, seconds: float) -> "Typist":
        """Let time pass; a held key decides once it was alone."""
        step = self.now + ALONE + 0.01
        if step <= self.now + seconds and (key := self.card.decide(step)):
            self.decided.append(key)
        self.now += seconds
        return self

    def press(self, key: str) -> "Typist":
        self.text += self.card.release()
        if self.card.wants(key, self.now, has_text=bool(self.text)):
            self.card.press(key, self.now)
        elif key == ENTER:
            self.text = ""
        elif len(key) == 1:
            self.text += key
        self.card.note_key(self.now)
        return self


def type_blindly(seed: int) -> list[str]:
    """Sentences of one who does not look: words in a flow, pauses for thought, and Enter at the end of each."""
    chance = random.Random(seed)
    typist = Typist(selected=chance.choice([NONE, 3]))
    typist.wait(chance.uniform(0, 0.5))
    for _ in range(chance.randint(2, 5)):
        for _ in range(chance.randint(2, 7)):
            typist.wait(chance.uniform(0.3, 1.6) if chance.random() < 0.3 else 0)
            for key in chance.choice(WORDS) + " ":
                typist.press(key).wait(chance.uniform(0.03, 0.25))
        typist.press(ENTER).wait(chance.uniform(0.03, 0.25))
    return typist.decided


def test_a_thousand_people_who_type_blindly_decide_nothing() -> None:
    assert [(seed, type_blindly(seed)) for seed in range(RUNS) if type_blindly(seed)] == []


@pytest.mark.parametrize(("key", "option"), [("y", "y"), ("A", "a"), ("1", "y"), ("4", "n"), (ENTER, "n")])
def test_a_key_pressed_alone_in_silence_decides(key: str, option: str) -> None:
    assert Typist().wait(SILENCE).press(key).wait(1).decided == [option]


def test_a_key_that_comes_too_early_is_text() -> None:
    typist = Typist().wait(SILENCE - 0.1).press("y").wait(2)
    assert (typist.decided, typist.text) == ([], "y")


def test_each_key_begins_the_silence_anew() -> None:
    typist = Typist().wait(SILENCE).press(DOWN).wait(SILENCE - 0.1).press(ENTER).wait(2)
    assert typist.decided == []
    assert typist.press(ENTER).wait(1).decided == ["t"]


def test_a_key_that_another_one_follows_is_text_and_so_is_that() -> None:
    typist = Typist().wait(1).press("a").wait(0.1).press("n").wait(2)
    assert (typist.decided, typist.text) == ([], "an")


def test_with_text_in_the_composer_keys_are_text_until_the_person_goes_to_the_card() -> None:
    typist = Typist()
    typist.text = "my draft"
    assert typist.wait(1).press("y").wait(1).decided == []
    assert typist.press(TAB).wait(1).press("y").wait(1).decided == ["y"]
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
        watch.time += BEAT
        clock.now()
    assert clock.now() == pytest.approx(1.0)
    watch.time += 5
    assert clock.now() == pytest.approx(1.0 + LONGEST_STEP)


def test_a_key_typed_while_the_program_is_busy_decides_nothing_when_it_arrives() -> None:
    watch = Watch()
    clock = CalmClock(watch)
    card = DecisionKeys(APPROVAL, 3, clock.now())
    card.note_key(clock.now())
    watch.time += 5
    assert not card.wants("a", clock.now(), has_text=False)
