"""`halo schedule`: runs at set times, which systemd or cron starts."""

import argparse
import getpass
import os
import shlex
import time
from contextlib import chdir
from pathlib import Path

from halocline.client.background import LastRun, Schedule, ScheduleService, hide_keys
from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.args.command_line import build_parser
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.sanitize import clean

LINGER = Path("/var/lib/systemd/linger")
LOGGED_IN = "Your own systemd runs only while you are logged in. To run schedules without that: loginctl enable-linger"
NO_WAY_BACK = "Runs have no one to ask: what needs approval is refused. See halo docs guide/automation."
HOW = "Write it behind --: halo schedule add NAME --at TIME -- {words}"


def command(arguments: argparse.Namespace) -> int:
    service = ScheduleService(open_client(Choices()).home, os.environ)
    match arguments.action:
        case "add":
            return _add(service, arguments)
        case "run":
            return service.run(arguments.name)
        case "show":
            _show(service, service.find(arguments.name), is_json=arguments.json)
        case "pause":
            print_raw(f"Paused {service.pause(arguments.name).name}.")
        case "resume":
            print_raw(f"Resumed {service.resume(arguments.name).name}.")
        case "remove":
            print_raw(f"Removed {service.remove(arguments.name).name}. Its tasks stay.")
        case _:
            for schedule in service.listed():
                print_raw(_as_json(service, schedule) if arguments.json else _describe(service, schedule))
    return 0


def _add(service: ScheduleService, arguments: argparse.Namespace) -> int:
    _check_words(arguments)
    wanted = Schedule(
        arguments.name,
        tuple(arguments.words),
        str(workspace_of(arguments.cwd)),
        arguments.at,
        arguments.zone,
        arguments.missed,
    )
    schedule = service.add(wanted)
    print_raw(f"Added, started by {schedule.timers}: {_describe(service, schedule)}")
    print_message(NO_WAY_BACK)
    if schedule.timers == "systemd" and not (LINGER / getpass.getuser()).exists():
        print_message(LOGGED_IN)
    return 0


def _check_words(arguments: argparse.Namespace) -> None:
    """Raise UsageError for words that `halo` would refuse at every run. Other commands are refused by the service."""
    command, *words = arguments.words or [""]
    if command not in ("run", "batch"):
        return
    with chdir(workspace_of(arguments.cwd)):
        given = build_parser(command).read(words)
    if command == "batch" and not (given.tasks or given.name):
        raise UsageError("The batch has no tasks.", HOW.format(words="batch tasks.jsonl"))
    if command == "run" and not ("".join(given.prompt).strip() or _has_work(given)):
        raise UsageError("The run has no prompt, and nothing is piped into it.", HOW.format(words='run "what to do"'))


def _has_work(given: argparse.Namespace) -> bool:
    """True if a run without a prompt has something to do."""
    return bool(given.until or given.continue_ or given.resume or given.images)


def _say_next(service: ScheduleService, schedule: Schedule) -> str:
    fault = service.find_fault(schedule)
    return f"not started: {fault}" if fault else service.find_next(schedule)


def _describe(service: ScheduleService, schedule: Schedule) -> str:
    coming = _say_next(service, schedule)
    words = clean(shlex.join(("halo", *hide_keys(schedule).words)))
    when = f"{schedule.at} {schedule.zone}".strip()
    return f"{schedule.name}  {when}{f'  ({coming})' if coming else ''}  {words}"


def _show(service: ScheduleService, schedule: Schedule, *, is_json: bool) -> None:
    if is_json:
        print_raw(_as_json(service, schedule))
        return
    times = schedule.times
    rows = {
        "runs": shlex.join(("halo", *hide_keys(schedule).words)),
        "in": schedule.folder,
        "at": f"{schedule.at} {schedule.zone}".strip(),
        "next": _say_next(service, schedule) or "unknown",
        "missed runs": "one is made up for" if schedule.missed == "run" else "are skipped",
        "started by": schedule.timers,
        "for systemd": "; ".join(map(times.say_in_zone, times.calendars)),
        "for cron": times.cron or f"not possible: {times.no_cron}",
        "last run": _describe_last(service.read_last(schedule.name)),
    }
    for name, text in rows.items():
        print_raw(f"{name + ':':<13} {clean(text)}")


def _describe_last(last: LastRun | None) -> str:
    if last is None:
        return "none yet"
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(last.began))
    if last.ended is None:
        return f"{began}, not ended"
    return f"{began}, exit code {last.code} after {last.ended - last.began:.0f} s"


def _as_json(service: ScheduleService, schedule: Schedule) -> str:
    last = service.read_last(schedule.name)
    coming, fault = service.find_next(schedule), service.find_fault(schedule)
    return json_output.encode({"schedule": hide_keys(schedule), "next": coming, "fault": fault, "last": last}).decode()
