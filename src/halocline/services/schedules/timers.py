"""The timers that start a schedule's runs: units of the person's own systemd, or lines of their crontab."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value
from halocline.services.schedules.times import Times
from halocline.services.user_units import (
    KEPT,
    OWN_PROGRAM,
    has_user_systemd,
    list_environment,
    quote_command,
    run_systemctl,
    unit_folder,
)

NEITHER = "Neither your own systemd (systemctl --user) nor cron (crontab) is here to start a schedule."


class Timers(Protocol):
    """Starts `halo schedule run NAME` at set times."""

    @property
    def kind(self) -> str:
        """Its name, by which `choose_timers` finds it again."""

    def check(self, times: Times, *, runs_missed: bool) -> None:
        """Raise UsageError if it cannot keep to these times, or to what is to happen with missed runs."""

    def install(self, name: str, times: Times, *, runs_missed: bool) -> None:
        """Start the runs from now on. Raises UsageError."""

    def remove(self, name: str) -> None:
        """Start no more of them. Raises UsageError."""

    def find_next(self, name: str) -> str:
        """Return when the next run is, as far as it is known."""


def choose_timers(environment: Mapping[str, str], kind: str = "") -> Timers:
    """Return systemd, or cron where that is not here; `kind` names the one that a schedule has. Raises UsageError."""
    if kind == "systemd" or (not kind and has_user_systemd()):
        return SystemdTimers(unit_folder(environment), tuple(list_environment(environment)))
    if not shutil.which("crontab", path=environment.get("PATH")):
        raise UsageError(NEITHER, "Install cron, or start halo run from a scheduler that you have.")
    return Crontab({name: environment[name] for name in KEPT if environment.get(name)})


class SystemdTimers(Value, frozen=True):
    """Units in the person's own folder. `environment` are lines for the services."""

    folder: Path
    environment: tuple[str, ...]
    kind: str = "systemd"

    def check(self, times: Times, *, runs_missed: bool) -> None:
        program = shutil.which("systemd-analyze")
        for calendar in map(times.say_in_zone, times.calendars) if program else ():
            done = subprocess.run(
                (str(program), "calendar", calendar),
                capture_output=True,
                check=False,
                env=child_environment(os.environ),
            )
            if done.returncode:
                raise UsageError(f"systemd does not take {calendar!r}.", done.stderr.decode(errors="replace").strip())

    def install(self, name: str, times: Times, *, runs_missed: bool) -> None:
        service, timer = self._files(name)
        self.folder.mkdir(parents=True, exist_ok=True)
        service.write_text(write_service(name, self.environment))
        timer.write_text(write_timer(name, times, runs_missed=runs_missed))
        hint = f"The timer's file is {timer}."
        run_systemctl(hint, "daemon-reload")
        run_systemctl(hint, "enable", timer.name)
        run_systemctl(hint, "restart", timer.name)

    def remove(self, name: str) -> None:
        files = [file for file in self._files(name) if file.exists()]
        if not files:
            return
        run_systemctl(f"The timer's file is {files[-1]}.", "disable", "--now", files[-1].name)
        for file in files:
            file.unlink()
        run_systemctl("", "daemon-reload")

    def find_next(self, name: str) -> str:
        timer = self._files(name)[1].name
        try:
            return run_systemctl("", "show", timer, "--property", "NextElapseUSecRealtime", "--value").strip()
        except UsageError:
            return ""

    def _files(self, name: str) -> tuple[Path, Path]:
        return self.folder / f"{unit_name(name)}.service", self.folder / f"{unit_name(name)}.timer"


def unit_name(name: str) -> str:
    """Return the name of a schedule's units."""
    return f"halocline-schedule-{name}"


def write_service(name: str, environment: tuple[str, ...]) -> str:
    """Return the text of the service that a timer starts."""
    command = quote_command((*OWN_PROGRAM, "schedule", "run", name))
    lines = ("[Unit]", f"Description=Halocline schedule {name}", "", "[Service]", "Type=oneshot")
    return "\n".join((*lines, f"ExecStart={command}", *environment, "KillSignal=SIGINT", ""))


def write_timer(name: str, times: Times, *, runs_missed: bool) -> str:
    """Return the text of the timer. systemd keeps the time of the last run, and so knows what was missed."""
    calendars = [f"OnCalendar={times.say_in_zone(calendar).replace('%', '%%')}" for calendar in times.calendars]
    missed = f"Persistent={'true' if runs_missed else 'false'}"
    head = ("[Unit]", f"Description=Times of the Halocline schedule {name}", "", "[Timer]")
    return "\n".join((*head, *calendars, missed, "", "[Install]", "WantedBy=timers.target", ""))


class Crontab(Value, frozen=True):
    """Lines of the person's crontab, each with a mark behind it; other lines are left alone."""

    environment: Mapping[str, str]
    kind: str = "cron"

    def check(self, times: Times, *, runs_missed: bool) -> None:
        if times.no_cron:
            raise UsageError(f"cron starts the runs here, and {times.no_cron}.", "Choose another time.")
        if times.zone:
            raise UsageError("cron starts the runs here, and only knows this machine's time zone.", "Leave out --zone.")
        if runs_missed:
            raise UsageError("cron starts the runs here, and does not make up for missed ones.", "Use --missed skip.")

    def install(self, name: str, times: Times, *, runs_missed: bool) -> None:
        others = self._list_others(name, self._read())
        # Behind the last whole line: cron reads none without an end, and one must not be given to it.
        at = len(others) - bool(others and not others[-1].endswith(b"\n"))
        line = f"{write_line(name, times.cron, self.environment)}\n".encode(errors="surrogateescape")
        self._write([*others[:at], line, *others[at:]])

    def remove(self, name: str) -> None:
        lines = self._read()
        if (others := self._list_others(name, lines)) != lines:
            self._write(others)

    def find_next(self, name: str) -> str:
        return ""

    def _list_others(self, name: str, lines: list[bytes]) -> list[bytes]:
        return [line for line in lines if not line.removesuffix(b"\n").endswith(_mark(name).encode())]

    def _read(self) -> list[bytes]:
        """Return the lines with their ends, each byte as it is: cron ends a line at b"\\n", and nowhere else."""
        done = _run_crontab(("-l",))
        said = done.stderr.decode(errors="replace").strip()
        if done.returncode and "no crontab" not in said:
            raise UsageError(f"crontab -l failed: {said or 'no reason given'}.", "Nothing was changed.")
        return re.findall(rb"[^\n]*\n|[^\n]+", b"" if done.returncode else done.stdout)

    def _write(self, lines: list[bytes]) -> None:
        done = _run_crontab(("-",), b"".join(lines))
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise UsageError(f"crontab refused the lines: {said or 'no reason given'}.", "Nothing was changed.")


def _run_crontab(words: tuple[str, ...], text: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(
            ("crontab", *words), input=text, capture_output=True, check=False, env=child_environment(os.environ)
        )
    except OSError as error:
        raise UsageError(f"Cannot run crontab: {error.strerror}.", "Nothing was changed.") from error


def write_line(name: str, cron: str, environment: Mapping[str, str]) -> str:
    """Return the line of a crontab. cron takes `%` for the end of a line."""
    for text in environment.values():
        if "\n" in text:
            raise UsageError(f"A line of a crontab cannot hold {text!r}.", "Use another folder.")
    given = [f"{variable}={shlex.quote(value)}" for variable, value in environment.items()]
    command = " ".join((*given, shlex.join((*OWN_PROGRAM, "schedule", "run", name))))
    return f"{cron} {command}".replace("%", r"\%") + _mark(name)


def _mark(name: str) -> str:
    return f" # halocline schedule {name}"
