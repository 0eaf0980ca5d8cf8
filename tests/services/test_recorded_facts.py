from functools import partial

from halocline.protocol import events as ev
from halocline.protocol.kinds import ToolKind
from halocline.services.replay.recording import RecordedFacts
from halocline.services.replay.timeline import Course


def started(*scripts: str) -> ev.ToolCallStarted:
    return ev.ToolCallStarted("a", "execute_command", "make", ToolKind.EXECUTE, scripts=scripts)


def count_found(facts: RecordedFacts, *asked: tuple[str, str]) -> int:
    """Return how many of the questions, each on its ground, were not answered from before."""
    found = list[str]()
    for ground, question in asked:
        facts.find_once(ground, question, partial(found.append, question))
    return len(found)


def test_what_recorded_tools_cannot_change_is_found_once_on_each_ground():
    facts = RecordedFacts(Course((started(),), str, strict=True), {}, live=False)
    assert count_found(facts, ("mode", "make"), ("mode", "make"), ("mode", "ls"), ("mode", "make")) == 2
    assert count_found(facts, ("other mode", "make"), ("mode", "make")) == 2


def test_a_command_whose_scripts_the_recording_has_in_another_form_is_judged_again():
    course = Course((started("make=1"), started("make=2")), str, strict=True)
    facts = RecordedFacts(course, {}, live=False)
    found = [count_found(facts, ("mode", "make"))]
    course.at = 2
    assert [*found, count_found(facts, ("mode", "make"), ("mode", "make"))] == [1, 1]


def test_where_the_tools_run_every_question_is_asked_again():
    facts = RecordedFacts(Course((started(),), str, strict=True), {}, live=True)
    assert count_found(facts, ("mode", "make"), ("mode", "make")) == 2
