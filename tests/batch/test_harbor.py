"""Folders of Harbor tasks as items of a batch; what accepts them is run as a batch does, in a shell."""

import os
import subprocess
from pathlib import Path

import pytest

from halocline.batch.harbor import list_unused, read_tasks
from halocline.batch.items import PlaceKind, check_items
from halocline.protocol.errors import UsageError

REWARDS = {
    "1.0\n": 0,
    "1": 0,
    "1.0\r\n": 0,
    "\n1\n\n": 0,
    "1\n1": 1,
    "1 1": 1,
    " 1e0 ": 0,
    "2.5": 0,
    "0.99": 1,
    "0": 1,
    "-1": 1,
    "nan": 1,
    "inf": 1,
    "": 1,
    "passed": 1,
}
"""What a test leaves in `reward.txt`, and how the acceptance exits."""
MANY_REWARDS = {
    '{"reward": 1.0}': 0,
    '{"reward": 1, "style": 0.2}': 0,
    '{"reward": 0.5, "style": 1}': 1,
    '{"tests": 1, "style": 1.0}': 0,
    '{"tests": 1, "style": 0}': 1,
    "{}": 1,
    '{"reward": "1"}': 1,
    '{"reward": NaN}': 1,
    "[1]": 1,
    "1": 1,
    "{": 1,
}
"""The same for `reward.json`."""


def write_task(folder: Path, test: str = "exit 0", config: str = "") -> Path:
    for below in ("environment", "tests"):
        (folder / below).mkdir(parents=True)
    (folder / "task.toml").write_text(config)
    (folder / "instruction.md").write_text(f"Do {folder.name}.\n")
    (folder / "tests" / "test.sh").write_text(test + "\n")
    return folder


def accept(task: Path, **env: str) -> subprocess.CompletedProcess[str]:
    (item,) = read_tasks(task)
    words = ["sh", "-c", item.accept]
    return subprocess.run(words, cwd=task, env={**os.environ, **env}, capture_output=True, text=True, check=False)


def test_tasks_are_read_by_name(tmp_path):
    for name in ("b", "a"):
        write_task(tmp_path / name, config="[agent]\ntimeout_sec = 60.0\n[verifier]\ntimeout_sec = 30\n")
    first, second = read_tasks(tmp_path)
    assert (first.id, first.prompt, first.time_limit, first.accept_seconds) == ("a", "Do a.\n", 60.0, 30.0)
    assert (second.folder, second.place) == (str(tmp_path / "b" / "environment"), PlaceKind.COPY)
    (tmp_path / "b" / "tests" / "test.sh").unlink()
    with pytest.raises(UsageError, match=r"has no tests/test\.sh"):
        read_tasks(tmp_path)


def test_a_name_that_is_no_id_becomes_one_that_stays_and_no_two_become_the_same(tmp_path):
    odd = ("a b", "a_b ", "a..b", "a.lock", ".a", "größe", "ゲーム", "-a", "a\nb", "x" * 200, "x" * 201, "'q' \"q\"")
    plain = ("a-b", "Fix_the.Bug-2")
    for name in (*odd, *plain):
        write_task(tmp_path / name)
    tasks = check_items(read_tasks(tmp_path), "tasks")
    ids = {Path(one.folder).parent.name: one.id for one in tasks}
    assert {name: ids[name] for name in plain} == {name: name for name in plain}
    assert {name: read_tasks(tmp_path / name)[0].id for name in odd} == {name: ids[name] for name in odd}
    assert len({*ids.values()}) == len((*odd, *plain))
    assert ids["a b"].startswith("a-b-")


@pytest.mark.process
@pytest.mark.parametrize(("name", "cases"), [("reward.txt", REWARDS), ("reward.json", MANY_REWARDS)])
def test_a_reward_is_read_as_harbor_does_whatever_the_script_exits_with(tmp_path, name, cases):
    test = f'printf %s "$SAYS" > $LOGS_DIR/{name}; exit 7'
    task = write_task(tmp_path / "one", test)
    assert {text: accept(task, SAYS=text).returncode for text in cases} == cases


@pytest.mark.process
def test_of_two_files_that_of_many_rewards_counts_and_without_any_nothing_is_accepted(tmp_path):
    both = "echo 1 > $LOGS_DIR/reward.txt; echo '{\"reward\": 0.25}' > $LOGS_DIR/reward.json"
    done = accept(write_task(tmp_path / "both", both))
    assert (done.returncode, done.stdout) == (1, 'rewards: {"reward": 0.25}\n')
    done = accept(write_task(tmp_path / "neither", "exit 0"))
    assert (done.returncode, "no reward that can be read" in done.stderr) == (1, True)


@pytest.mark.process
def test_tests_get_their_own_variables_also_those_from_outside_and_leave_nothing(tmp_path):
    wanted = """test "$A" = 'a "b" $c' -a "$B" = 'from outside' -a "$C" = "it's usual" -a "$PWD" = "$APP_DIR\""""
    config = """[verifier.env]\nA = 'a "b" $c'\nB = "${OUTSIDE}"\nC = "${NOT_SET:-it's usual}"\n"""
    task = write_task(tmp_path / "one", f"{wanted} && echo 1 > $LOGS_DIR/reward.txt", config)
    (tmp_path / "tmp").mkdir()
    done = accept(task, OUTSIDE="from outside", TMPDIR=str(tmp_path / "tmp"))
    assert (done.returncode, done.stderr) == (0, "")
    assert [*(tmp_path / "tmp").iterdir()] == []
    assert accept(task).returncode != 0, "a variable that has to come from outside is missing"


def test_what_only_harbor_can_give_is_named_with_the_number_of_tasks(tmp_path):
    usual = "[environment]\ngpus = 0\nbuild_timeout_sec = 9\nnetwork_mode = 'public'\nallow_internet = true\n"
    write_task(tmp_path / "a", config=usual + "cpus = 2\nworkdir = '/app'\n[verifier]\nenvironment_mode = 'shared'\n")
    more = "artifacts = ['/out']\n[environment]\ncpus = 1\nallow_internet = false\n[environment.env]\nA = 'b'\n"
    task = write_task(
        tmp_path / "b", config=more + "[agent]\nuser = 'agent'\n[verifier]\nnetwork_mode = 'no-network'\n"
    )
    (task / "environment" / "docker-compose.yaml").write_text("")
    assert list_unused(tmp_path) == {
        "environment.cpus": 2,
        "environment.env": 1,
        "environment.allow_internet": 1,
        "agent.user": 1,
        "verifier.network_mode": 1,
        "artifacts": 1,
        "environment/docker-compose.yaml": 1,
    }


@pytest.mark.parametrize("config", ["[[steps]]\nname = 'one'\n", "[environment]\nos = 'windows'\n"])
def test_a_task_that_a_batch_cannot_do_is_refused_and_harbor_is_named(tmp_path, config):
    write_task(tmp_path / "one", config=config)
    with pytest.raises(UsageError, match="needs") as refused:
        read_tasks(tmp_path)
    assert "Harbor" in refused.value.hint
