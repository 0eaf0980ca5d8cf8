"""The timers that start a schedule's runs: units of the person's own systemd, or lines of their crontab."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from pwd import getpwuid
from typing import Protocol

from halocline.files.regular import read_regular
from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError
from halocline.protocol.file_locks import LockHeld, lock_folder
from halocline.protocol.values import Value
from halocline.services.schedules.times import Times
from halocline.services.user_units import (
    KEPT,
    OWN_PROGRAM,
    has_user_systemd,
    list_environment,
    quote_command,
    quote_word,
    run_systemctl,
    unit_folder,
)

NEITHER = "Neither your own systemd (systemctl --user) nor cron (crontab) is here to start a schedule."

PATIENCE = 60.0
"""Seconds to wait for others that change schedules: systemd may take some for each."""
NEXT = "NextElapseUSecRealtime"
"""systemd's property of a timer: when it starts its service next."""


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

    def has(self, name: str) -> bool:
        """True if it is there to start the runs. Raises UsageError if that cannot be learned."""

    def find_next(self, name: str) -> str:
        """Return when the next run is, as far as it is known."""


class Owner(Value, frozen=True):
    """The home that timers belong to. `places` are the ways to write where it is; timers get the first."""

    places: tuple[str, ...]
    is_default: bool

    @property
    def mark(self) -> str:
        """The end of its timers' names, which no other home has."""
        return hashlib.sha256(os.fsencode(os.path.realpath(self.places[0]))).hexdigest()[:8]

    def has_written(self, text: str, write: Callable[[str], str]) -> bool:
        """True if a text without a mark is of this home, by the HALOCLINE_HOME in it, as `write` writes that."""
        if "HALOCLINE_HOME=" not in text:
            return self.is_default
        return any(write(f"HALOCLINE_HOME={place}") in text for place in self.places)


@contextmanager
def lock_timers() -> Iterator[None]:
    """Hold the lock of this user's timers: all homes share one crontab, which is read and written as a whole.

    The lock is on a folder that no variable moves. Raises UsageError.
    """
    with ExitStack() as held:
        for folder in _lockable_folders():
            try:
                held.enter_context(lock_folder(Path(folder), "is changing schedules", PATIENCE))
                break
            except LockHeld as error:
                raise UsageError(f"{error}.", "Nothing was changed.") from error
            except OSError:
                continue  # a folder that is not there; or on a file system over the network, which locks no folders
        else:
            raise UsageError("No folder can be locked to change schedules.", "Nothing was changed.")
        yield


def _lockable_folders() -> tuple[str, ...]:
    try:
        return getpwuid(os.geteuid()).pw_dir, "/tmp"
    except KeyError:
        return ("/tmp",)


def owner_of(home: Path, environment: Mapping[str, str]) -> Owner:
    """Return the owner of the timers of a home."""
    real = os.path.realpath(home)
    is_default = real == os.path.realpath(Path.home() / ".halocline")
    return Owner((str(home.absolute()), environment.get("HALOCLINE_HOME") or real, real), is_default)


def choose_timers(environment: Mapping[str, str], home: Path, kind: str = "") -> Timers:
    """Return systemd, or cron where that is not here; `kind` names the one that a schedule has. Raises UsageError."""
    owner = owner_of(home, environment)
    kept = {name: environment[name] for name in KEPT if environment.get(name)}
    if "HALOCLINE_HOME" in kept or not owner.is_default:
        kept = {**kept, "HALOCLINE_HOME": owner.places[0]}  # the variable's path may count in one folder only
    if kind == "systemd" or (not kind and has_user_systemd()):
        return SystemdTimers(unit_folder(environment), tuple(list_environment(kept)), owner)
    if not shutil.which("crontab", path=environment.get("PATH")):
        raise UsageError(NEITHER, "Install cron, or start halo run from a scheduler that you have.")
    return Crontab(kept, owner)


class SystemdTimers(Value, frozen=True):
    """Units in the person's own folder. `environment` are lines for the services."""

    folder: Path
    environment: tuple[str, ...]
    owner: Owner
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
        self._remove(self._list_unmarked(name))
        service, timer = self._files(unit_name(name, self.owner.mark))
        self.folder.mkdir(parents=True, exist_ok=True)
        service.write_text(write_service(name, self.environment))
        timer.write_text(write_timer(name, times, runs_missed=runs_missed))
        hint = f"The timer's file is {timer}."
        run_systemctl(hint, "daemon-reload")
        run_systemctl(hint, "enable", timer.name)
        run_systemctl(hint, "restart", timer.name)

    def remove(self, name: str) -> None:
        self._remove(self._list_marked(name))
        self._remove(self._list_unmarked(name))

    def has(self, name: str) -> bool:
        return any(file.suffix == ".timer" for file in (*self._list_marked(name), *self._list_unmarked(name)))

    def find_next(self, name: str) -> str:
        files = self._list_marked(name) or self._list_unmarked(name)
        try:
            return run_systemctl("", "show", files[-1].name, "--property", NEXT, "--value").strip() if files else ""
        except UsageError:
            return ""

    def _remove(self, files: list[Path]) -> None:
        if not files:
            return
        run_systemctl(f"The timer's file is {files[-1]}.", "disable", "--now", files[-1].name)
        for file in files:
            file.unlink()
        run_systemctl("", "daemon-reload")

    def _list_marked(self, name: str) -> list[Path]:
        return [file for file in self._files(unit_name(name, self.owner.mark)) if file.exists()]

    def _list_unmarked(self, name: str) -> list[Path]:
        """Return the units that this home wrote before units had a mark."""
        service, timer = self._files(unit_name(name))
        if not service.exists():
            return []
        is_ours = self.owner.has_written(read_regular(service).decode(errors="surrogateescape"), quote_word)
        return [file for file in (service, timer) if is_ours and file.exists()]

    def _files(self, unit: str) -> tuple[Path, Path]:
        return self.folder / f"{unit}.service", self.folder / f"{unit}.timer"


def unit_name(name: str, mark: str = "") -> str:
    """Return the name of a schedule's units, with the mark of their owner."""
    return f"halocline-schedule-{name}{mark and f'-{mark}'}"


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
    owner: Owner
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
        line = f"{write_line(name, times.cron, self.environment, self.owner.mark)}\n".encode(errors="surrogateescape")
        self._write([*others[:at], line, *others[at:]])

    def remove(self, name: str) -> None:
        lines = self._read()
        if (others := self._list_others(name, lines)) != lines:
            self._write(others)

    def has(self, name: str) -> bool:
        lines = self._read()
        return len(self._list_others(name, lines)) < len(lines)

    def find_next(self, name: str) -> str:
        return ""

    def _list_others(self, name: str, lines: list[bytes]) -> list[bytes]:
        return [line for line in lines if not self._is_ours(name, line.decode(errors="surrogateescape"))]

    def _is_ours(self, name: str, line: str) -> bool:
        start = shlex.join(("schedule", "run", name))
        if line.removesuffix("\n").endswith(start + _mark(name, self.owner.mark)):
            return True
        is_unmarked = line.removesuffix("\n").endswith(start + _mark(name))
        return is_unmarked and self.owner.has_written(line, _write_variable)

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


def write_line(name: str, cron: str, environment: Mapping[str, str], mark: str) -> str:
    """Return the line of a crontab. cron takes `%` for the end of a line."""
    for text in environment.values():
        if "\n" in text:
            raise UsageError(f"A line of a crontab cannot hold {text!r}.", "Use another folder.")
    given = "".join(_write_variable(f"{variable}={value}") for variable, value in environment.items())
    command = shlex.join((*OWN_PROGRAM, "schedule", "run", name)).replace("%", r"\%")
    return f"{cron} {given}{command}{_mark(name, mark)}"


def _write_variable(text: str) -> str:
    variable, _, value = text.partition("=")
    return f"{variable}={shlex.quote(value)} ".replace("%", r"\%")


def _mark(name: str, mark: str = "") -> str:
    """Return the end of a line; lines from before there were marks of homes have none."""
    return f" # halocline schedule {name}{mark and f' of home {mark}'}"
