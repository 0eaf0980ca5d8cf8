"""Schedules: what is written for systemd and cron, and that runs of one do not overlap."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from halocline.hosts.executables import find_program
from halocline.protocol.errors import UsageError
from halocline.protocol.file_locks import lock_file
from halocline.services.schedules.service import Schedule, ScheduleService
from halocline.services.schedules.timers import unit_name, write_line, write_service, write_timer
from halocline.services.schedules.times import parse_times
from halocline.store.paths import Home

ANALYZE = find_program("systemd-analyze")
CRONTAB = """#!/bin/sh
case $1 in
-l) test -f "$LINES_OF_CRON" || { echo "no crontab for me" >&2; exit 1; }; cat "$LINES_OF_CRON" ;;
-) cat > "$LINES_OF_CRON" ;;
esac
"""
"""What crontab(1) does with the options that are used; no cron is needed for that."""


@pytest.fixture
def cron(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with cron and without a systemd of the person's own; return the file of its lines."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "crontab").write_text(CRONTAB)
    (programs / "crontab").chmod(0o755)
    for name in ("sh", "cat", "test"):
        (programs / name).symlink_to(str(find_program(name)))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("LINES_OF_CRON", str(tmp_path / "lines"))
    return tmp_path / "lines"


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScheduleService:
    home = tmp_path / "home of 50%"
    home.mkdir()
    monkeypatch.setenv("HALOCLINE_HOME", str(home))
    return ScheduleService(Home(home), os.environ)


def open_home(home: Path) -> ScheduleService:
    home.mkdir()
    return ScheduleService(Home(home), {**os.environ, "HALOCLINE_HOME": str(home)})


def schedule(folder: Path, **fields: object) -> Schedule:
    usual = {"name": "nightly", "words": ("run", "--help"), "folder": str(folder), "at": "daily 03:00"}
    return Schedule(**{**usual, **fields})


def test_a_timer_has_all_times_and_says_what_becomes_of_missed_runs() -> None:
    text = write_timer("nightly", parse_times("0 9 1 * 1", "Europe/Berlin"), runs_missed=True)
    lines = text.splitlines()
    assert [line for line in lines if line.startswith(("OnCalendar", "Persistent"))] == [
        "OnCalendar=Mon *-*-* 9:0:00 Europe/Berlin",
        "OnCalendar=*-*-1 9:0:00 Europe/Berlin",
        "Persistent=true",
    ]
    assert "Persistent=false" in write_timer("nightly", parse_times("hourly"), runs_missed=False)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    files = [tmp_path / f"{unit_name('nightly')}.{kind}" for kind in ("service", "timer")]
    files[0].write_text(write_service("nightly", ('Environment="PATH=/usr/bin"',)))
    files[1].write_text(write_timer("nightly", parse_times("weekdays 09:00", "Europe/Berlin"), runs_missed=True))
    judged = subprocess.run([str(ANALYZE), "verify", "--user", *files], capture_output=True, text=True, check=False)
    assert "halocline-schedule" not in judged.stderr, judged.stderr


@pytest.mark.process
def test_cron_gets_one_line_and_keeps_all_others(cron: Path, service: ScheduleService, tmp_path: Path) -> None:
    others = "# mine\n0 1 * * * echo a % b\n"
    cron.write_text(others)
    added = service.add(schedule(tmp_path))
    assert added.timers == "cron"
    text = cron.read_text()
    assert text.startswith(others)
    (line,) = text.removeprefix(others).splitlines()
    assert line.startswith("0 3 * * * HALOCLINE_HOME=")
    assert re.search(" -m halocline schedule run nightly # halocline schedule nightly of home [0-9a-f]{8}$", line)
    service.add(schedule(tmp_path, name="night"))
    service.pause("nightly")
    assert "run nightly" not in cron.read_text()
    assert service.find_next(service.find("nightly")) == "paused"
    service.resume("nightly")
    assert line in cron.read_text().splitlines()
    service.remove("nightly")
    service.remove("night")
    assert (cron.read_text(), service.listed()) == (others, [])


@pytest.mark.process
@pytest.mark.parametrize("last", [b"", b"0 2 * * * without an end"])
def test_what_others_wrote_in_the_crontab_stays_byte_for_byte(cron, service, tmp_path, last: bytes) -> None:
    odd = "# a\u2028* * * * * b\u0085* * * * * c\x0b\x0c\x1c* * * * * d\n\n".encode()
    others = odd + b"# e\r* * * * * f\r\n\xff\xfe = \x80\n" + last
    cron.write_bytes(others)
    service.add(schedule(tmp_path))
    ours = [line for line in cron.read_bytes().split(b"\n") if b"schedule run nightly" in line]
    assert cron.read_bytes() == others.removesuffix(last) + ours[0] + b"\n" + last
    service.remove("nightly")
    assert cron.read_bytes() == others


@pytest.mark.process
def test_schedules_of_the_same_name_in_two_homes_leave_each_other_alone(cron: Path, tmp_path: Path) -> None:
    here, there = (open_home(tmp_path / name) for name in ("here", "there"))
    here.add(schedule(tmp_path))
    alone = cron.read_bytes()
    there.add(schedule(tmp_path, at="daily 04:00"))
    assert cron.read_bytes().startswith(alone)
    assert len(cron.read_bytes().splitlines()) == 2
    there.remove("nightly")
    assert cron.read_bytes() == alone


@pytest.mark.process
def test_a_line_from_before_there_were_marks_is_removed_by_its_own_home_alone(cron: Path, tmp_path: Path) -> None:
    here, there = (open_home(tmp_path / name) for name in ("here of 5%", "there"))
    for one in (here, there):
        one.add(schedule(tmp_path))
    cron.write_text(re.sub(" of home .*", "", cron.read_text()))
    others = cron.read_text().splitlines(keepends=True)[0]
    assert r"here of 5\%" in others
    there.remove("nightly")
    assert cron.read_text() == others
    here.remove("nightly")
    assert cron.read_text() == ""


@pytest.mark.process
def test_units_of_two_homes_differ_and_unmarked_ones_are_removed_by_their_own_home(tmp_path, monkeypatch) -> None:
    (tmp_path / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\n')
    (tmp_path / "systemctl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    here, there = (open_home(tmp_path / name) for name in ("here of 5%", "there"))
    units = tmp_path / "systemd/user"
    here.add(schedule(tmp_path))
    of_here = {*units.iterdir()}
    there.add(schedule(tmp_path))
    there.remove("nightly")
    assert {*units.iterdir()} == of_here
    for file in of_here:
        file.rename(units / f"{unit_name('nightly')}{file.suffix}")
    unmarked = {*units.iterdir()}
    there.add(schedule(tmp_path))
    there.remove("nightly")
    assert {*units.iterdir()} == unmarked
    here.remove("nightly")
    assert [*units.iterdir()] == []
    assert "--user disable --now halocline-schedule-nightly.timer" in (tmp_path / "said").read_text()


@pytest.mark.process
def test_schedules_added_at_once_in_several_homes_all_have_their_lines(cron: Path, tmp_path: Path) -> None:
    homes = [open_home(tmp_path / f"home{number}") for number in range(4)]
    with ThreadPoolExecutor(len(homes)) as threads:
        [*threads.map(lambda home: home.add(schedule(tmp_path)), homes)]
    assert len(cron.read_text().splitlines()) == len(homes)


@pytest.mark.process
def test_a_schedule_whose_timer_is_gone_says_so_until_it_is_resumed(cron, service, tmp_path: Path) -> None:
    added = service.add(schedule(tmp_path))
    assert service.find_fault(added) == ""
    cron.write_text("# someone wrote over it\n")
    assert "its timer is missing" in service.find_fault(added)
    assert service.find_fault(service.pause("nightly")) == ""
    assert service.find_fault(service.resume("nightly")) == ""


@pytest.mark.process
def test_the_line_of_cron_starts_the_run(cron: Path, service: ScheduleService, tmp_path: Path) -> None:
    service.add(schedule(tmp_path))
    command = cron.read_text().split(maxsplit=5)[5].replace(r"\%", "%")  # as cron hands it to the shell
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, "usage: halo run" in done.stdout) == (0, True), done.stderr
    last = service.read_last("nightly")
    assert last is not None
    assert last.code == 0


@pytest.mark.process
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"at": "Fri *-*-13 09:00"}, "not where both meet"),
        ({"zone": "Europe/Berlin"}, "only knows this machine's time zone"),
        ({"missed": "run"}, "does not make up for missed ones"),
        ({"at": "whenever"}, "is no time"),
        ({"name": "Nightly; rm"}, "is no name of a schedule"),
        ({"words": ("web",)}, "starts halo run or halo batch"),
        ({"words": ("run", "--api-key", "k1", "x")}, "keeps no key"),
        ({"words": ("run", "--api-key=k1", "x")}, "keeps no key"),
        ({"words": ()}, "starts halo run or halo batch"),
    ],
)
def test_what_cannot_be_kept_to_is_refused_and_leaves_nothing(cron, service, tmp_path, fields, said) -> None:
    with pytest.raises(UsageError, match=said):
        service.add(schedule(tmp_path, **fields))
    assert (cron.exists(), service.listed()) == (False, [])


@pytest.mark.process
def test_where_nothing_starts_runs_none_is_promised(service, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match="Neither your own systemd"):
        service.add(schedule(tmp_path))
    assert service.listed() == []


@pytest.mark.process
def test_runs_of_one_schedule_do_not_overlap(cron: Path, service: ScheduleService, tmp_path: Path) -> None:
    service.add(schedule(tmp_path))
    said = f"nightly is still running: Process {os.getpid()}"
    held = lock_file(tmp_path / "home of 50%/schedules/nightly.lock", "runs")
    with held, pytest.raises(UsageError, match=said):
        service.run("nightly")
    assert service.read_last("nightly") is None
    assert service.run("nightly") == 0


@pytest.mark.process
def test_a_schedule_whose_folder_is_gone_runs_nothing(cron: Path, service: ScheduleService, tmp_path: Path) -> None:
    service.add(schedule(tmp_path / "gone"))
    with pytest.raises(UsageError, match="is gone"):
        service.run("nightly")


def test_a_line_cannot_be_broken_by_a_folder() -> None:
    with pytest.raises(UsageError, match="cannot hold"):
        write_line("nightly", "* * * * *", {"PATH": "/a\n* * * * * evil"}, "0a")
    line = write_line("nightly", "* * * * *", {"PATH": "/a b'$(c)"}, "0a")
    quoted = "'/a b'\"'\"'$(c)'"
    command = f"{sys.executable} -m halocline schedule run nightly"
    assert line == f"* * * * * PATH={quoted} {command} # halocline schedule nightly of home 0a"
