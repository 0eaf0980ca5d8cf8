"""`halo stats`: tokens, cost, tasks, models and tools, by day."""

import argparse
import sys
from collections.abc import Sequence

import msgspec

from halocline.client.options import Choices
from halocline.client.storage import Amount, UsageStats, collect_stats
from halocline.client.tasks import open_client
from halocline.protocol import json_output
from halocline.surfaces.cli.args.relative_time import parse_since
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.figures import format_count, format_money, format_plural, known_part
from halocline.surfaces.sanitize import clean


def command(arguments: argparse.Namespace) -> int:
    stats = collect_stats(open_client(Choices()).home.tasks, parse_since(arguments.since))
    if stats.left_out:
        print(f"{format_plural(stats.left_out, 'older task')} left out: too many.", file=sys.stderr)
    if arguments.json:
        print_raw(json_output.encode(msgspec.to_builtins(stats, order="sorted")).decode())
        return 0
    if not (stats.days or stats.turns):
        print(f"No tasks since {arguments.since}.")
        return 0
    _print_days(stats)
    _print_models(stats)
    _print_tools(stats)
    return 0


def _print_days(stats: UsageStats) -> None:
    rows = [
        (day, len(stats.tasks.get(day, ())), stats.turns.get(day, 0), stats.days.get(day, Amount()))
        for day in sorted({*stats.days, *stats.turns})
    ]
    total = Amount()
    for *_, amount in rows:
        total.merge(amount)
    tasks = len(set().union(*stats.tasks.values()))
    _print_table(
        ("day", "tasks", "turns", "requests", "tokens", "cost"),
        [
            *((day, str(tasks), str(turns), *_format_amount(amount)) for day, tasks, turns, amount in rows),
            ("total", str(tasks), str(sum(stats.turns.values())), *_format_amount(total)),
        ],
    )


def _print_models(stats: UsageStats) -> None:
    models = sorted(stats.models.items(), key=lambda one: (-(one[1].cost or 0.0), -one[1].tokens))
    rows = [(clean(name) or "unknown", *_format_amount(amount)) for name, amount in models]
    _print_table(("model", "requests", "tokens", "cost"), rows)


def _print_tools(stats: UsageStats) -> None:
    tools = sorted(stats.tools.items(), key=lambda one: -one[1].calls)
    _print_table(
        ("tool", "calls", "failed"), [(clean(name), str(use.calls), str(use.failed or "")) for name, use in tools]
    )


def _format_amount(amount: Amount) -> tuple[str, str, str]:
    cost = known_part(amount.cost, amount.unpriced)
    partly = f" + {amount.unpriced} unpriced" if amount.unpriced and cost is not None else ""
    return str(amount.requests), format_count(amount.tokens), format_money(cost) + partly


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns, the first one to the left; and an empty line after them."""
    if not rows:
        return
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    for row in (head, *rows):
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        print_raw("  ".join((row[0].ljust(widths[0]), *cells)).rstrip())
    print()
