"""`halo context`: show what fills a task's context window and its cost, the system prompt, and cache misses."""

import argparse
import shutil

from halocline.client.options import TaskOptions
from halocline.client.tasks import Client, open_client
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.surfaces import event_loop
from halocline.surfaces.cli.args.task_options import choices_of, workspace_of
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.context_report import WIDEST, cache_lines, report_lines
from halocline.surfaces.sanitize import clean


def command(arguments: argparse.Namespace) -> int:
    client = open_client(choices_of(arguments))
    if arguments.cache:
        _show_cache(client, arguments)
        return 0
    state = _find_state(client, arguments)
    if arguments.prompt and arguments.json:
        print_raw(json_output.encode({"prompt": state.prompt.system}).decode())
        return 0
    if arguments.prompt:
        print_raw(state.prompt.system, end="")
        return 0
    report = client.context(state)
    if arguments.json:
        print_raw(json_output.encode(report).decode())
        return 0
    width = min(shutil.get_terminal_size().columns, WIDEST)
    print("\n".join(clean(line) for line in report_lines(report, width)))
    return 0


def _find_state(client: Client, arguments: argparse.Namespace) -> State:
    if arguments.task:
        return fold_events(client.past(client.find(arguments.task)))
    options = TaskOptions(model=arguments.model, attended=True)
    return event_loop.run_loop(client.fresh(workspace_of(arguments.cwd), options))


def _show_cache(client: Client, arguments: argparse.Namespace) -> None:
    if not arguments.task:
        raise UsageError("A new task has no cache use yet.", "Name a task: halo context TASK --cache")
    report = client.cache(client.find(arguments.task))
    if arguments.json:
        print_raw(json_output.encode(report).decode())
        return
    print("\n".join(clean(line) for line in cache_lines(report)))
