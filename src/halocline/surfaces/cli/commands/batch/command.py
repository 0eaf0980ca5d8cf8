"""`halo batch`: reads the items, runs what has not ended, shows it as it happens, and reports."""

import argparse
import gc
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.batch import evaluation, fleet, harbor, predictions, report
from halocline.batch.folders import check_source, find_batch, is_known, list_batches, place_folder
from halocline.batch.items import Item, PlaceKind, check_items, read_items, take_shard
from halocline.batch.places import LocalPlaces, choose_kind
from halocline.batch.pull_requests import PullRequests, lacks_request
from halocline.batch.purse import Purse
from halocline.batch.queue import Ending, Queue, Standing, read_queue
from halocline.batch.run import Batch, Runner
from halocline.batch.work import GARBAGE, THREADS, Clients, Manner, Worker
from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import open_client
from halocline.protocol import json_output
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.surfaces import event_loop, export
from halocline.surfaces.cli.args.task_options import choices_of
from halocline.surfaces.cli.commands.batch.progress import Lines, Progress, Table
from halocline.surfaces.cli.commands.batch.scores import list_differences, list_scores
from halocline.surfaces.cli.commands.batch.summary import describe_batch, list_summary
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.session.signals import handle_signals
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean

FORMS = (".json", ".html")
MORE = "Harbor itself has them: the guide's page evaluate.md."


def command(arguments: argparse.Namespace) -> int:
    home = open_client(Choices()).home
    if arguments.list:
        return _print_batches(list_batches(home))
    if arguments.against:
        read_queue(find_batch(home, arguments.against))  # known before anything runs
    for file in arguments.report:
        if Path(file).suffix not in FORMS:
            raise UsageError(f"A report is written to FILE.json or FILE.html, not {file}.", "Choose one of them.")
    for file in filter(None, (*arguments.report, arguments.predictions)):
        if not Path(file).expanduser().absolute().parent.is_dir():
            raise UsageError(f"There is no folder for {file}.", "Make it, or name another file.")
    if arguments.tasks == "-" and not arguments.name:
        raise UsageError("A batch from standard input needs a name.", "Name it: --name NAME")
    items = _read_tasks(arguments)
    name = arguments.name or _name_after(arguments.tasks, arguments.command)
    if not name:
        raise UsageError("No tasks.", "Name a file: halo batch tasks.jsonl, or a batch to continue: --name NAME")
    folder = find_batch(home, name)
    if not items:
        items = [one.item for one in read_queue(folder).values()]
    ours = take_shard(items, arguments.shard) if arguments.shard else items
    if unknown := {*(arguments.only or ())} - {item.id for item in ours}:
        raise UsageError(f"There is no item {sorted(unknown)[0]!r} in this batch.", "See: halo batch … --dry-run")
    ours = [item for item in ours if not arguments.only or item.id in arguments.only]
    if unknown := {*arguments.again} - {"failed", *(item.id for item in ours)}:
        raise UsageError(f"There is no item {sorted(unknown)[0]!r} in this batch.", "See: halo batch … --dry-run")
    if missing := next((one for one in ours if one.accept_files and not Path(one.accept_files).is_dir()), None):
        raise UsageError(f"Item {missing.id!r}: there is no folder {missing.accept_files}.", "They are for acceptance.")
    if arguments.on:
        _check_nodes(arguments, ours)
    if arguments.dry_run:
        if arguments.pull_requests:
            event_loop.run_loop(_check_requests(arguments, folder, ours), THREADS)
        return _show_plan(folder, ours)
    if arguments.tasks not in ("", "-") and not arguments.name:
        check_source(folder, str(Path(arguments.tasks).expanduser().absolute()))
    gc.set_threshold(*GARBAGE)
    return event_loop.run_loop(_run(arguments, folder, ours), THREADS)


def _read_tasks(arguments: argparse.Namespace) -> list[Item]:
    """Read the items of a file, a folder or standard input; none without any of these. Raises UsageError."""
    given = arguments.tasks
    if not given:
        return []
    path = Path(given).expanduser()
    if given != "-" and path.is_dir():
        items = check_items(harbor.read_tasks(path.absolute()), given)
        _say_what_is_unused(path.absolute())
    else:
        items = read_items(*_read_text(given, path))
    items = [_complete(item, arguments) for item in items]
    return _repeat_items(items, arguments) if arguments.command == "eval" else items


def _say_what_is_unused(folder: Path) -> None:
    """Name what Harbor would give these tasks and a batch does not."""
    if unused := harbor.list_unused(folder):
        fields = ", ".join(f"{name} ({count})" for name, count in unused.items())
        print_message(f"Not in force, with the number of tasks: {fields}.", MORE)


def _repeat_items(items: list[Item], arguments: argparse.Namespace) -> list[Item]:
    """Return the items of an evaluation. Raises UsageError if two of its models would have one name in ids."""
    models = [one.strip() for one in arguments.models.split(",") if one.strip()] or [arguments.model]
    if None in models:
        raise UsageError("Which models? An evaluation names them.", "Use: halo eval TASKS --models A,B")
    return check_items(evaluation.repeat_items(items, models, arguments.repeat), "this evaluation")


def _read_text(given: str, path: Path) -> tuple[str, str, Path]:
    source, base = ("standard input", Path.cwd()) if given == "-" else (given, path.absolute().parent)
    try:
        data = sys.stdin.buffer.read() if given == "-" else path.read_bytes()
        return data.decode("utf-8-sig"), source, base
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(f"Cannot read {source}: {why}.", "Name a file of JSON lines, or a folder of tasks.") from error


def _complete(item: Item, arguments: argparse.Namespace) -> Item:
    """Return the item with what the flags say for items that do not say it themselves."""
    place = item.place or (PlaceKind(arguments.place) if arguments.place and not item.git else None)
    folder = item.folder or ("" if item.git else str(Path.cwd()))
    return replace(item, folder=folder, place=place, accept=item.accept or arguments.accept or "")


def _check_nodes(arguments: argparse.Namespace, items: Sequence[Item]) -> None:
    """Raise UsageError for what no node of a cluster can do."""
    if arguments.pull_requests:
        raise UsageError("--pull-requests needs places on this machine.", "Leave it out, or run the items here.")
    fleet.opening.check_fleet(items, _manner_of(arguments))


def _name_after(given: str, command: str) -> str:
    name = Path(given).expanduser().absolute().stem if given not in ("", "-") else ""
    return f"{name}-eval" if name and command == "eval" else name


def _print_batches(found: Sequence[Path]) -> int:
    is_whole = True
    for folder in found:
        try:
            print_raw(describe_batch(report.make_report(folder.name, read_queue(folder).values())))
        except HaloclineError as error:
            is_whole = False
            print_message(error.text, error.hint)
    if not found:
        print_message("There is no batch.", "Run one: halo batch tasks.jsonl")
    return ExitCode.FINISHED if is_whole else ExitCode.ERROR


def _show_plan(folder: Path, items: Sequence[Item]) -> int:
    """List what would run. Raises UsageError for what cannot."""
    known = read_queue(folder) if is_known(folder) else {}
    for item in items:
        standing = known.get(item.id, Standing(item))
        if standing.outcome:
            what = report.describe_ending(standing.outcome)
        else:
            what = f"continues task {standing.task}" if standing.task else "would run"
        print_raw(clean(f"{item.id}  {what}  ({choose_kind(item)} {item.git or item.folder})"))
    return 0


async def _check_requests(arguments: argparse.Namespace, folder: Path, items: Sequence[Item]) -> PullRequests:
    """Return what opens the pull requests, before anything runs. Raises UsageError where none can be opened."""
    known = read_queue(folder) if is_known(folder) else {}
    ours = {item.id: known.get(item.id, Standing(item)) for item in items}
    again = {*_list_again(ours, arguments.again), *_list_not_begun(ours)}
    due = [one for id, one in ours.items() if id in again or not one.outcome or lacks_request(one.outcome)]
    requests = PullRequests(folder, open_client(_manner_of(arguments).choices, "batch"))
    places = await requests.check(due)
    print_message(f"Pull requests of what passes: {', '.join(places) or 'none is left to open'}.")
    return requests


async def _run(arguments: argparse.Namespace, folder: Path, items: Sequence[Item]) -> int:
    requests = await _check_requests(arguments, folder, items) if arguments.pull_requests else None
    if arguments.on:
        await fleet.opening.check_cluster(arguments.on)  # before there is a queue
    with Queue(folder) as queue:
        await queue.add(items)
        wanted = [item.id for item in items]
        ours = {id: queue.items[id] for id in wanted}
        await queue.repeat({*_list_again(ours, arguments.again), *_list_not_begun(ours)})
        if all(queue.items[id].outcome for id in wanted):
            print_message(
                "All items have ended; none runs again.", "To run some once more: --again failed, or --again ID"
            )
        if requests:
            await requests.note_targets()
            async for one in requests.publish_left(queue, wanted):
                print_message(f"{one.item.id}  {one.outcome and (one.outcome.pull_request or one.outcome.problem)}")
        progress: Progress = Table() if sys.stderr.isatty() else Lines()
        runner = await _open_runner(arguments, queue, items, progress, requests)
        batch = Batch(queue, runner, at_once=arguments.at_once, note=progress.note, only=frozenset(wanted))

        def stop(number: int) -> None:
            batch.stop()
            if requests:
                requests.stop()

        with progress.show(batch), handle_signals(stop):
            is_stopped = await batch.run()
        return _finish(arguments, queue, wanted, batch, is_stopped=is_stopped)


async def _open_runner(
    arguments: argparse.Namespace,
    queue: Queue,
    items: Sequence[Item],
    progress: Progress,
    requests: PullRequests | None,
) -> Runner:
    """Return what runs the items: this process, or a cluster. Raises UsageError."""
    manner, purse = _manner_of(arguments), Purse(arguments.max_total_cost)
    if arguments.on:
        return await fleet.opening.open_fleet(
            arguments.on,
            queue,
            items,
            manner,
            open_client(manner.choices, "batch"),
            purse,
            nodes=arguments.nodes,
            patience=arguments.node_timeout,
            at_once=arguments.at_once,
            note=progress.note,
        )
    clients = Clients(manner, Path.cwd())
    places = LocalPlaces(place_folder(queue.folder, os.environ), queue.folder, os.environ, clients.closes_network)
    publish = requests.publish if requests else None
    worker = Worker(queue, places, clients, manner, purse, progress.note, publish=publish)
    for one in [queue.items[item.id] for item in items]:
        if one.node and not one.outcome:  # its place is on a node
            await queue.lose(one.item.id, worker.read_cost(one))
    return worker


def _list_again(ours: Mapping[str, Standing], again: Sequence[str]) -> list[str]:
    """Return the items to run once more."""
    failed = [id for id, one in ours.items() if one.outcome and not one.outcome.passed]
    return [id for id in ours if id in again or ("failed" in again and id in failed)]


def _list_not_begun(ours: Mapping[str, Standing]) -> list[str]:
    """Return items that failed before any model was asked, for want of a key, a place, a disk: they begin again."""
    ended = {id: done for id, one in ours.items() if (done := one.outcome)}
    failed = {id for id, done in ended.items() if done.ending in (Ending.PLACE, Ending.ERROR)}
    return [id for id in failed if not ended[id].requests]


def _list_words(arguments: argparse.Namespace) -> list[str]:
    """Return the words of this command, without what is meant for once."""
    words = [word for word in sys.argv[1:] if not word.startswith("--again=")]
    while "--again" in words:
        at = words.index("--again")
        del words[at : at + 2]
    return words


def _manner_of(arguments: argparse.Namespace) -> Manner:
    approval = "yolo" if arguments.yolo else arguments.approval_mode
    options = TaskOptions(
        model=arguments.model,
        mode=Mode(arguments.mode) if arguments.mode else None,
        approval_mode=ApprovalMode(approval) if approval else None,
        effort=arguments.effort,
        thinking_budget=arguments.thinking_budget,
        attended=arguments.ask,
        trusted=arguments.trust,
    )
    arguments.unattended = not arguments.ask
    if arguments.max_total_cost:  # none may spend more by itself, and each needs a model whose price is known
        arguments.max_cost = min(arguments.max_cost or arguments.max_total_cost, arguments.max_total_cost)
    return Manner(choices_of(arguments), options, arguments.branches, arguments.keep)


def _finish(
    arguments: argparse.Namespace, queue: Queue, wanted: Sequence[str], batch: Batch, *, is_stopped: bool
) -> int:
    """Print and write the report; return the exit code."""
    name = queue.folder.name
    ours = [queue.items[id] for id in wanted]
    made = report.make_report(name, ours)
    for file in arguments.report:
        text = export.batch_report.write_page(made) if file.endswith(".html") else json_output.encode(made).decode()
        _write_text(file, f"{text}\n")
    if arguments.predictions:
        file = Path(arguments.predictions).expanduser()
        for path, text in predictions.list_predictions(queue, wanted, file).items():
            _write_text(str(path), text)
    scores = evaluation.score_models(ours) if arguments.command == "eval" else []
    if arguments.json:
        print_raw(json_output.encode({"report": made, "scores": scores} if scores else made).decode())
    else:
        for line in (*list_summary(made), *(list_scores(scores) if scores else ())):
            print_raw(line)
    if is_stopped:
        print_message("Stopped.", f"To continue: halo {shlex.join(_list_words(arguments))}")
        return ExitCode.INTERRUPTED
    if made.ended < made.items and not batch.purse.why_spent:
        left = f"{made.items - made.ended} items did not come to their end, which the program's log explains."
        print_message(left, f"To continue: halo {shlex.join(_list_words(arguments))}")
        return ExitCode.ERROR
    if made.ended < made.items:
        print_message(batch.purse.why_spent, f"To continue: halo batch --name {name} --max-total-cost USD")
        return ExitCode.LIMIT
    if arguments.command == "eval":
        return _compare(arguments, queue, ours)
    if arguments.pull_requests and (unopened := sum(lacks_request(one.outcome) for one in ours if one.outcome)):
        print_message(f"Not opened: {format_plural(unopened, 'pull request')}.", "Start the same batch again.")
        return ExitCode.ERROR
    return ExitCode.FINISHED if made.passed == made.items else ExitCode.ERROR


def _compare(arguments: argparse.Namespace, queue: Queue, ours: Sequence[Standing]) -> int:
    """Say what differs from an earlier batch, if one is named; a regression is an error."""
    if not arguments.against:
        return ExitCode.FINISHED
    earlier = read_queue(queue.folder.with_name(arguments.against))
    found = evaluation.compare_runs(ours, earlier.values())
    for line in list_differences(found, arguments.against):
        print_message(line) if arguments.json else print_raw(line)
    return ExitCode.ERROR if any(one.is_regression for one in found) else ExitCode.FINISHED


def _write_text(file: str, text: str) -> None:
    """Write a file that the person named. Raises HaloclineError."""
    try:
        Path(file).expanduser().write_text(text, encoding="utf-8")
    except OSError as error:
        raise HaloclineError(
            f"Cannot write {file}: {error.strerror}.", "Name a file in a folder that is there."
        ) from error
