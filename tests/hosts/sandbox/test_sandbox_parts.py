import asyncio
import ctypes
import ctypes.util
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from halocline.hosts.sandbox import landlock, seatbelt, seccomp, self_test
from halocline.hosts.sandbox.backends import Backend, Held, Seen, all_but, list_backends
from halocline.hosts.sandbox.mounts import SandboxRequest, list_masked
from halocline.hosts.sandbox.sandbox import Sandbox
from halocline.hosts.sandbox.scan import Scan
from halocline.hosts.shell.environment import clean_environment
from halocline.protocol.child_environment import child_environment, in_sandbox
from halocline.protocol.kinds import SandboxStanding

JUDGED = {"clone3": seccomp.CLONE3, "socket": seccomp.SOCKET, "ioctl": seccomp.IOCTL, "clone": seccomp.CLONE}


@pytest.mark.parametrize(("column", "architecture"), [(0, 0xC000003E), (1, 0xC00000B7)], ids=["x86_64", "aarch64"])
def test_the_numbers_of_system_calls_are_those_that_libseccomp_knows(column: int, architecture: int):
    name = ctypes.util.find_library("seccomp")
    if name is None:
        pytest.skip("libseccomp, which judges the numbers, is not installed")
    resolve = ctypes.CDLL(name).seccomp_syscall_resolve_name_arch
    table = {**seccomp.REFUSED, **seccomp.ABSENT, **JUDGED}
    known = {call: resolve(architecture, call.encode()) for call in table}
    assert {call: pair[column] for call, pair in table.items()} == {
        call: max(number, -1) for call, number in known.items()
    }


def test_an_unknown_machine_has_no_filter():
    assert seccomp.build_filter("riscv64") == b""


def test_places_are_named_around_what_is_hidden(tmp_path: Path):
    for name in ("home/.ssh", "home/work", "etc"):
        (tmp_path / name).mkdir(parents=True)
    hidden = [tmp_path / "home" / ".ssh"]
    assert set(all_but(hidden, tmp_path)) == {tmp_path / "home" / "work", tmp_path / "etc"}
    assert set(all_but([], tmp_path)) == {tmp_path}


def test_the_workspace_is_not_masked_by_what_is_around_it(wishes: SandboxRequest):
    (wishes.home / ".claude" / "project").mkdir(parents=True)
    inside = replace(wishes, workspace=wishes.home / ".claude" / "project")
    assert wishes.home / ".claude" not in list_masked(inside, Scan())
    assert wishes.home / ".ssh" in list_masked(inside, Scan())


def test_a_link_to_keys_masks_what_it_leads_to(wishes: SandboxRequest):
    (wishes.home / "real").mkdir()
    (wishes.home / ".gnupg").symlink_to(wishes.home / "real")
    assert wishes.home / "real" in list_masked(wishes, Scan())


def test_the_profile_for_macos_lets_write_in_the_workspace_but_not_in_git(wishes: SandboxRequest):
    text = seatbelt.build_profile(wishes, [wishes.workspace / ".git"], [wishes.home / '.s"sh'])
    lines = text.splitlines()
    allowed = lines.index(f'(allow file-write* (subpath "{wishes.workspace}"))')
    assert allowed < lines.index(f'(deny file-write* (subpath "{wishes.workspace}/.git"))')
    assert f'(deny file-read* file-write* (subpath "{wishes.home}/.s\\"sh"))' in lines
    assert "network" not in text
    assert "(allow network*" in seatbelt.build_profile(replace(wishes, network=True), [], [])


def test_a_sandbox_that_holds_nothing_is_seen_through(wishes: SandboxRequest):
    wishes.tmp.mkdir()
    open_door = Backend("open door", lambda wishes, words, folder, seen: Held(words, {}, {}))
    lacks, reason = self_test.examine_backend(open_door, wishes)
    assert reason == ""
    assert {"a command can write outside", "a command can connect by TCP", "a command can send by UDP"} < set(lacks)
    assert {"a command can reach a Unix socket", "a command can see other processes"} < set(lacks)


def test_a_sandbox_in_which_nothing_works_is_none(wishes: SandboxRequest):
    shut = Backend(
        "shut",
        lambda wishes, words, folder, seen: Held(["/bin/sh", "-c", "echo 'setting up uid map' >&2; exit 1"], {}, {}),
    )
    lacks, reason = self_test.examine_backend(shut, wishes)
    assert lacks == ()
    assert "AppArmor profile" in reason


@pytest.mark.parametrize("place", ["home", "state"])
async def test_a_workspace_around_what_is_to_be_kept_has_no_sandbox(wishes: SandboxRequest, place: str):
    found = await Sandbox(replace(wishes, workspace=getattr(wishes, place))).check()
    assert found.standing is SandboxStanding.NONE
    assert "the workspace" in found.lacks[0]


async def test_a_result_is_believed_as_long_as_this_boot(wishes: SandboxRequest):
    first = await Sandbox(wishes).check()
    if first.standing is not SandboxStanding.FULL:
        pytest.skip("no full sandbox on this machine")
    memory = wishes.state / "sandbox.json"
    key = json.loads(memory.read_text())
    assert await Sandbox(wishes).check() == first
    memory.write_text(json.dumps(["another boot", *key[1:]]))
    assert await Sandbox(wishes).check() == first
    assert json.loads(memory.read_text()) == key


async def test_landlock_holds_all_but_the_gaps_that_it_names(wishes: SandboxRequest, tmp_path: Path):
    if landlock.landlock_version() < landlock.OLDEST:
        pytest.skip("this kernel has no Landlock that serves")
    way = next(way for way in list_backends() if way.name == "Landlock")
    lacks, reason = self_test.examine_backend(way, wishes)
    assert (lacks, reason) == ((*way.lacks, "a command can see other processes"), "")
    wishes.tmp.mkdir()
    for number in range(2_000):
        (wishes.home / f"{'neighbour' * 10}{number}").touch()
    script = (
        f"grep CapEff /proc/self/status; echo x > {tmp_path}/new; "
        f"cat {wishes.home}/.ssh/id_ed25519; cat {wishes.home}/notes.txt; echo b >> a.txt"
    )
    seen = Seen({}, list_masked(wishes, Scan()))
    held = way.hold(wishes, ["/bin/bash", "-c", script], str(wishes.workspace), seen)
    run = await asyncio.to_thread(subprocess.run, held.words, cwd=wishes.workspace, capture_output=True, text=True)
    assert "s3cret" not in run.stdout + run.stderr
    assert run.stdout.startswith("CapEff:\t0000000000000000\n")
    assert run.stdout.endswith("plain")
    assert not (tmp_path / "new").exists()
    assert (wishes.workspace / "a.txt").read_text() == "a\nb\n"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("GITHUB_TOKEN", False),
        ("AWS_PROFILE", False),
        ("MYSQL_PWD_PASSWORD", False),
        ("STRIPE_API_KEY", False),
        ("SSH_AUTH_SOCK", False),
        *((name, False) for name in ("PGPASSWORD", "MYSQL_PWD", "GITHUB_PAT", "GHTOKEN", "SECRETKEY", "JWT", "APIKEY")),
        *(
            (name, False)
            for name in ("SENTRY_DSN", "DB_PASS", "SESSION_COOKIE", "NPM_AUTH", "GPG_PASSPHRASE", "PRIVATEKEY")
        ),
        *(
            (name, False)
            for name in ("SECRETS", "CLIENT_SECRETS", "ACCESS_KEYS", "DOCKER_AUTH_CONFIG", "X_CREDENTIALS_FILE")
        ),
        *((name, True) for name in ("PWD", "OLDPWD")),
        *((name, True) for name in ("KEYMAP", "GIT_AUTHOR_NAME", "COMPASS", "PATTERN", "BYPASS", "AUTHORITY", "XPATH")),
        ("KEYBOARD", True),
        ("TOKENIZERS_PARALLELISM", True),
        ("PATH", True),
        ("HOME", True),
    ],
)
def test_a_sandbox_does_not_get_what_opens_doors(name: str, kept: bool):
    assert (name in in_sandbox(child_environment({name: "x"}))) is kept


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("postgres://me:s3cret@db.example.org/app", False),
        ("redis://:s3cret@localhost:6379/0", False),
        (f"ghp_{'a' * 36}", False),
        (f"sk-{'a' * 30}", False),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x", False),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nx", False),
        ("postgres://localhost/app", True),
        ("http://proxy.example.org:3128", True),
        ("/usr/local/bin:/usr/bin", True),
        ("a@b.example.org", True),
    ],
)
def test_a_sandbox_does_not_get_what_is_a_secret_by_its_form(value: str, kept: bool):
    assert (in_sandbox(child_environment({"ADDRESS": value})) != {}) is kept


def test_a_judged_git_has_its_settings_in_a_sandbox():
    environment = clean_environment({"PATH": "/bin", "HOME": "/root"}, "/w")
    assert {name: value for name, value in in_sandbox(environment).items() if name.startswith("GIT_")} == {
        name: value for name, value in environment.items() if name.startswith("GIT_")
    }
