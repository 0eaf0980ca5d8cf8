import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hosts.conftest import Runner

from halocline.hosts.shell.ancestry import MARK, Unknown, find_peer, find_task_above
from halocline.task import lock

pytestmark = pytest.mark.process

CHILD = "import sys; print('ready', flush=True); sys.stdin.read()"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"
ABOVE = find_task_above.__name__
HOLDING = "import subprocess, sys; file = open(sys.argv[1]); " + PARENT.partition("; ")[2]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose only task this process has open."""
    folder = tmp_path / "home" / "tasks" / "t"
    folder.mkdir(parents=True)
    file = lock.take_lock(folder, "t")
    yield tmp_path / "home"
    lock.give_back(file)


def below(script: str, *words: str) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", script, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout
    assert child.stdout.readline() == "ready\n"
    return child


def grandchild(child: subprocess.Popen[str]) -> int:
    return int(Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()[0])


def test_what_a_task_started_is_found_at_any_depth(home: Path) -> None:
    with below(PARENT) as child:
        assert find_task_above(child.pid, home) == os.getpid()
        assert find_task_above(grandchild(child), home) == os.getpid()
        child.communicate()


def test_a_task_of_another_home_is_none_of_ours(home: Path, tmp_path: Path) -> None:
    with below(CHILD) as child:
        assert find_task_above(child.pid, tmp_path) is None
        child.communicate()


def test_the_process_that_runs_a_task_is_not_what_it_started(home: Path) -> None:
    assert find_task_above(os.getpid(), home) is None


def test_a_home_is_known_by_whatever_name_leads_to_it(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    with below(CHILD) as child:
        assert find_task_above(child.pid, tmp_path / "link") == os.getpid()
        child.communicate()


def test_a_process_between_cannot_hide_the_task_behind_one_of_another_home(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "tasks" / "t" / "lock"
    other.parent.mkdir(parents=True)
    other.touch()
    with below(HOLDING, str(other)) as child:
        assert find_task_above(grandchild(child), home) == os.getpid()
        child.communicate()


async def test_a_keeper_stands_for_a_task_whose_process_is_not_seen(run: Runner, tmp_path: Path) -> None:
    looking = f"import os, pathlib; print({ABOVE}(os.getpid(), pathlib.Path({str(tmp_path)!r}), {{}}))"
    script = f"from halocline.hosts.shell.ancestry import {ABOVE}; {looking}"
    result = await run(shlex.join([sys.executable, "-c", script]))
    assert result.output.strip().isdecimal()


def test_the_mark_in_its_own_environment_tells_where_no_process_above_does(tmp_path: Path) -> None:
    for marked, found in (("0f", 0), (f"0f {tmp_path}", 0), ("0f /elsewhere", None)):
        assert find_task_above(os.getpid(), tmp_path, {MARK: marked}) == found
    assert find_task_above(os.getpid(), tmp_path, {}) is None


def test_of_a_process_that_is_gone_nobody_can_say(home: Path) -> None:
    with below(CHILD) as child:
        child.communicate()
    with pytest.raises(Unknown):
        find_task_above(child.pid, home)


def test_a_peer_that_left_is_not_taken_for_a_later_process_of_its_number(tmp_path: Path) -> None:
    script = "import socket, sys; line = socket.socket(socket.AF_UNIX); line.connect(sys.argv[1])"
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "door"))
        door.listen()
        with below(f"{script}; {CHILD}", str(tmp_path / "door")) as child:
            connection, _ = door.accept()
            pid, user, is_there = find_peer(connection)
            assert (pid, user) == (child.pid, os.geteuid())
            assert is_there()
            _, _, is_there = find_peer(connection)
            child.communicate()
            child.wait()
            assert not is_there()
            connection.close()
