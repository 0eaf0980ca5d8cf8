import pytest
from rich.console import Console

from halocline.protocol import events as ev
from halocline.protocol.kinds import Choice, Grant, ToolKind
from halocline.protocol.permission_rules import Grade
from halocline.surfaces.acp.permissions import list_options
from halocline.surfaces.cli.live.card import SAFE_KEYS
from halocline.surfaces.cli.output.approval_card import approval_card
from halocline.surfaces.figures import GRADES
from halocline.surfaces.row_kinds import Approval, CallRow

CHOICES = (Choice.ALLOW_ONCE, Choice.ALLOW_ALWAYS, Choice.REJECT_ONCE)


def request(grade):
    return ev.ApprovalRequested(
        request="r1",
        call="c1",
        name="execute_command",
        title="cat .env",
        kind=ToolKind.EXECUTE,
        reason=".env may hold secrets",
        options=CHOICES,
        grant=Grant(ToolKind.EXECUTE, "cat .env"),
        grade=grade,
    )


def test_each_grade_but_the_ordinary_one_has_words():
    assert set(GRADES) == set(Grade) - {Grade.ORDINARY}
    assert [grade for grade in Grade if grade.is_grave] == [Grade.SECRET, Grade.FINAL]


def _approval(grade):
    asked = request(grade)
    return Approval(asked.request, asked.reason, asked.detail, grade=asked.grade)


@pytest.mark.parametrize("grade", Grade)
def test_the_card_of_a_terminal_begins_with_the_word_of_its_grade(grade):
    row = CallRow("c1", "execute_command", "cat .env", ToolKind.EXECUTE, approval=_approval(grade))
    console = Console(width=100, record=True, file=None, force_terminal=False)
    with console.capture() as shown:
        console.print(approval_card(row))
    word, _ = GRADES.get(grade, ("", ""))
    assert (f"{word}: .env may hold secrets" if word else "│ .env may hold secrets") in shown.get()


@pytest.mark.parametrize("grade", Grade)
def test_an_editor_gets_the_option_to_reject_first_where_it_is_grave(grade):
    first, second, *_ = [option.kind for option in list_options(request(grade))]
    assert (first == "reject_once") is grade.is_grave
    assert {first, second} == {"allow_once", "reject_once"}


def test_enter_on_the_card_of_a_terminal_rejects_until_another_option_is_chosen():
    assert SAFE_KEYS == ("n",)
