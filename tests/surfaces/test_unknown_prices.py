"""Every surface that shows a cost: what nobody knows is "price unknown", a dash or null there, never zero dollars."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence

import msgspec
import pytest
from tests.architecture.sources import SOURCE
from tests.tables import for_each

from halocline.protocol import codec, events as ev
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import AssistantMessage, StopReason, Text, Usage
from halocline.protocol.queries.tasks import Order, TaskInfo, TaskQuery
from halocline.protocol.state.reducer import fold_events
from halocline.services.usage_stats import Amount
from halocline.store.tasks.index_facts import learn_facts, nothing_known
from halocline.surfaces import costs
from halocline.surfaces.acp.updates import make_usage
from halocline.surfaces.board.entries import TaskEntry
from halocline.surfaces.cli.commands.tasks.stats import _format_amount
from halocline.surfaces.cli.plain.json_results import Result
from halocline.surfaces.editor.status import _describe_task
from halocline.surfaces.export.task import Form, export_task
from halocline.surfaces.rows.fold import rows_of
from halocline.surfaces.slash.status import _describe_cost
from halocline.surfaces.terminal.application.status_bar import status_facts
from halocline.surfaces.terminal.drawing.task_line import task_line
from halocline.surfaces.web.task_view.fact_folds import FactFold

Log = Sequence[ev.DurableEvent]
BEGUN = (
    ev.TaskStarted("/w", "openai/own", Mode.ACT, ApprovalMode.ASK, "", ""),
    ev.TurnStarted((Text("hi"),)),
)
STEP = ev.StepStarted(model="openai/own")
REPLY = ev.AssistantMessageCompleted(AssistantMessage((Text("Done."),)))
DONE = ev.TurnEnded(StopReason.END_TURN)


def reported(cost: float | None) -> ev.UsageReported:
    return ev.UsageReported(Usage(input=100, output=10), cost)


STORIES: dict[str, Log] = {
    "a model without a price": (*BEGUN, STEP, reported(None), REPLY, DONE),
    "one beside a free model": (*BEGUN, STEP, reported(0.0), REPLY, STEP, reported(None), REPLY, DONE),
    "a request that was interrupted": (*BEGUN, STEP, ev.TurnEnded(StopReason.CANCELLED)),
    "a request that failed": (*BEGUN, STEP, ev.TurnEnded(StopReason.ERROR)),
}
PARTLY: Log = (*BEGUN, STEP, reported(0.25), REPLY, STEP, reported(None), REPLY, DONE)
FREE: Log = (*BEGUN, STEP, reported(0.0), REPLY, DONE)


def numbered(log: Log) -> Log:
    return [msgspec.structs.replace(event, seq=seq, task="t1") for seq, event in enumerate(log, 1)]


def info_of(log: Log) -> TaskInfo:
    return learn_facts(nothing_known("t1"), [codec.encode(event) for event in log]).info


def amount_of(log: Log) -> Amount:
    amount = Amount()
    for event in log:
        if isinstance(event, ev.UsageReported):
            amount.add(event.usage, event.cost)
    return amount


def facts_of(log: Log) -> str:
    """The cost in the page's header, by its own JavaScript."""
    fold = FactFold()
    for event in log:
        fold.take(event)
    return run_page(
        f"describeCost({{usage: {{}}, cost: 0, turns: [], ...{json.dumps(msgspec.to_builtins(fold.facts))}}})"
    )


def run_page(expression: str) -> str:
    """Evaluate an expression with the page's own functions."""
    node = shutil.which("node") or pytest.skip("node is not on this machine")
    text = (SOURCE / "surfaces/web/static/js/lib/format.js").read_text(encoding="utf-8")
    task = (SOURCE / "surfaces/web/static/js/state/task.js").read_text(encoding="utf-8")
    (describe_cost,) = re.findall(r"^export const describeCost = (?:.*\n)+?(?=\n)", task, re.MULTILINE)
    done = subprocess.run(
        [node, "--input-type=module", "-"],
        input=f"{text}\n{describe_cost}\nconsole.log({expression})",
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


SURFACES: dict[str, Callable[[Log], str]] = {
    "surfaces/costs.py: halo tasks show --cost": lambda log: "\n".join(
        line for line in costs.cost_table(costs.turns_of(log)) if line.startswith("  sum")
    ),
    "surfaces/slash/lists.py: /cost": lambda log: "\n".join(costs.by_turn(costs.turns_of(log))),
    "surfaces/slash/status.py: /status": lambda log: _describe_cost(fold_events(log)),
    "surfaces/export/task.py: halo export --format html": lambda log: export_task(log, Form.HTML, str),
    "surfaces/export/markdown.py: halo export": lambda log: export_task(log, Form.MARKDOWN, str),
    "surfaces/terminal/application/status_bar.py": lambda log: " ".join(
        fact.text for fact in status_facts(fold_events(log))
    ),
    "surfaces/terminal/drawing/task_line.py: halo tasks list --sort cost": lambda log: task_line(
        info_of(log), TaskQuery(order=Order.COST)
    ),
    "surfaces/board/entries.py: halo board": lambda log: (
        TaskEntry(info_of(log)).row.cost + TaskEntry(info_of(log), fold_events(log)).row.cost
    ),
    "surfaces/cli/commands/tasks/stats.py: halo stats": lambda log: _format_amount(amount_of(log))[2],
    "surfaces/cli/plain/json_results.py: --output-format json": lambda log: (
        f"cost {Result.of(fold_events(log), 1.0, None).cost}"
    ),
    "surfaces/editor/status.py: halo editor": lambda log: f"cost {_describe_task(fold_events(log), '')['cost']}",
    "surfaces/acp/session.py: halo acp": lambda log: (
        f"cost {make_usage(1, 1, fold_events(log).budget.known_cost).cost}"
    ),
    "surfaces/web/static/js/transcript/task-header.js: the page": facts_of,
    "surfaces/web/static/js/transcript/turn-end.js: the page": lambda log: run_page(
        f"money({json.dumps(rows_of(log)[-1].cost)})"  # type: ignore[union-attr]
    ),
    "surfaces/web/static/js/history/history.js: the page": lambda log: run_page(
        f"money(knownCost({json.dumps(msgspec.to_builtins(info_of(log)))}))"
    ),
}
ZERO = re.compile(r"\$0(\.0+)?(?![.\d])|\b0\.0+(?![.\d])(?! s)|\bcost 0\b|\bfree\b", re.IGNORECASE)


@pytest.mark.process
@for_each("story", STORIES)
@for_each("surface", SURFACES)
def test_a_price_that_nobody_knows_is_never_shown_as_zero(surface: str, story: str) -> None:
    shown = SURFACES[surface](numbered(STORIES[story]))
    assert ZERO.findall(shown) == [], shown


PARTS = ("--cost", "/cost", "/status", "html", "status_bar.py", "halo stats", "task-header.js: the page")
"""Surfaces that show the known part of a sum; the others have no room for it, or are read by programs."""


@pytest.mark.parametrize("surface", [name for name in SURFACES if name.endswith(PARTS)])
def test_the_known_part_of_a_cost_is_shown_as_a_part(surface: str) -> None:
    shown = SURFACES[surface](numbered(PARTLY))
    assert re.search(r"at least \$0\.25|0\.25.*without the price of 1 step|\$0\.25 \+ 1 unpriced", shown), shown


@pytest.mark.process
@pytest.mark.parametrize("surface", [name for name in SURFACES if "board" not in name and "status_bar" not in name])
def test_a_price_that_is_known_to_be_zero_is_shown(surface: str) -> None:
    """So the test above sees zero wherever one stands."""
    assert ZERO.search(SURFACES[surface](numbered(FREE)))


def test_every_module_that_shows_a_cost_is_tried_above() -> None:
    listed = {name.partition(":")[0] for name in SURFACES}
    shows = re.compile(
        r"format_(known_)?(money|cost)\(|describe_ending\(|\.known_cost|cost_table\(|by_turn\(|\bmoney\(|describeCost\("
    )
    files = [*(SOURCE / "surfaces").rglob("*.py"), *(SOURCE / "surfaces/web/static/js").rglob("*.js")]
    found = {str(path.relative_to(SOURCE)) for path in files if shows.search(path.read_text(encoding="utf-8"))}
    assert found - listed - OTHERS == set()


OTHERS = {
    "surfaces/figures.py",  # formats
    "surfaces/web/static/js/lib/format.js",
    "surfaces/web/static/js/state/task.js",
    "surfaces/context_report.py",  # what a miss costs, if it is known to cost anything; prices are dashes without rates
    "surfaces/slash/models.py",  # prices of models, only known ones
    "surfaces/export/html.py",  # the ends of turns, as in Markdown
    "surfaces/cli/live/own_status.py",  # `format_known_cost`, as in the usual status line
    "surfaces/terminal/drawing/cards.py",
    "surfaces/terminal/drawing/call_cards.py",  # sub-agents: costs above zero only
    "surfaces/terminal/drawing/activity_line.py",
    "surfaces/web/static/js/transcript/subagent-lanes.js",
    "surfaces/web/static/js/history/task-preview.js",  # as in the list beside it
    "surfaces/web/static/js/shell/context-sheet.js",  # as in the header
    "surfaces/cli/commands/tasks/manage.py",  # `halo tasks show`: as in an export
    "surfaces/cli/background/best_of.py",  # `format_known_cost`, as on the board
    "surfaces/cli/commands/tasks/import_.py",  # known ones above zero only
    "surfaces/export/atif.py",  # no field where a price is unknown, as its specification has it
    *(f"surfaces/cli/commands/batch/{name}.py" for name in ("command", "progress", "scores", "summary")),
    "surfaces/export/batch_report.py",  # all five: of outcomes, in tests/batch/test_unknown_prices_of_batches.py
}
