"""The evidence where it is shown: in cards, exports, results for programs, and the proposed texts of commits."""

from tests.protocol.test_evidence import edit, log, run, say

from halocline.protocol import events as ev
from halocline.protocol.state.evidence.facts import gather_evidence
from halocline.protocol.state.evidence.findings import find_evidence
from halocline.protocol.state.reducer import fold_events
from halocline.runtime.subagents.monitor import report_of
from halocline.services.commits import propose_message
from halocline.surfaces.cli.plain.json_results import Result
from halocline.surfaces.export.html import to_html
from halocline.surfaces.export.markdown import to_markdown
from halocline.surfaces.rows.fold import rows_of
from halocline.surfaces.rows.kinds import TurnEndRow
from halocline.surfaces.terminal.drawing.cards import end_card
from halocline.surfaces.terminal.drawing.scrollback import draw_lines

DENIED = "not confirmed: no test ran after the last edit"
UNTESTED = log(edit(), say("All tests pass."))
TESTED = log(edit(), run("pytest -q"), say("All tests pass."))


def draw_end(events: list[ev.DurableEvent]) -> list[str]:
    (row,) = [row for row in rows_of(events) if isinstance(row, TurnEndRow)]
    return list(draw_lines(end_card(row)))


def test_the_end_card_has_a_line_of_facts_and_a_green_sign_only_without_a_contradiction():
    assert draw_end(TESTED)[1:] == ["  a.py changed; then `pytest -q` (exit 0)"]
    assert draw_end(TESTED)[0].startswith("✓")
    assert draw_end(UNTESTED)[1:] == ["  a.py changed", f"  {DENIED}"]
    assert draw_end(UNTESTED)[0].startswith("■")


def test_exports_have_the_same_lines():
    rows = rows_of(UNTESTED)
    assert f"*{DENIED}*" in to_markdown(rows)
    assert DENIED in to_html(rows, "Task", ())


def test_a_result_for_programs_has_the_evidence_of_the_state():
    result = Result.of(fold_events(UNTESTED), 1.0, None)
    assert result.evidence == find_evidence(gather_evidence(UNTESTED))
    assert result.evidence.not_confirmed == ("no test ran after the last edit",)


def test_the_proposed_message_of_a_commit_ends_with_the_evidence():
    text = find_evidence(gather_evidence(TESTED), whole=True).text
    assert propose_message("repair add", "All tests pass.", text) == (
        "Repair add\n\nAll tests pass.\n\nAfter the last edit: `pytest -q` (exit 0)."
    )


def test_the_report_of_a_sub_agent_begins_with_the_claims_that_its_log_contradicts():
    assert report_of(fold_events(UNTESTED)) == f"[{DENIED}]\nAll tests pass."
    assert report_of(fold_events(TESTED)) == "All tests pass."
