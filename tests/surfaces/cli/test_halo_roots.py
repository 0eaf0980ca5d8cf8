"""Several folders at the command line."""

import asyncio
import json
from pathlib import Path

import pexpect
import pytest
from tests.surfaces.cli.halo_process import Halo, call, shell

HI = {"text": "Hello."}


@pytest.fixture
def library(halo: Halo) -> Path:
    folder = halo.root / "library"
    folder.mkdir()
    (folder / "lib.py").write_text("one\n")
    return folder


async def shows(terminal: pexpect.spawn, text: str) -> None:
    await asyncio.to_thread(terminal.expect, text)


async def test_a_folder_is_added_worked_in_and_listed(halo: Halo, library: Path) -> None:
    model = halo.script({"call": [shell(f"echo two > {library}/lib.py")]}, HI)
    done = await halo.run("run", "-p", "-y", "-m", model, "--add-dir", str(library), "first")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert f"also in {library}" in (await halo.run("tasks", "list")).out
    task = halo.tasks[0]
    undone = await halo.run("checkpoints", "restore", f"{task}/1", "--yes")
    assert f"restore  {library}/lib.py" in undone.out
    assert (library / "lib.py").read_text() == "one\n"


async def test_the_setting_adds_folders_to_every_task_but_those_that_hold_it(halo: Halo, library: Path) -> None:
    (halo.home).mkdir(exist_ok=True)
    (halo.home / "settings.toml").write_text(f'add_dirs = ["{library}", "{halo.folder}"]\n')
    await halo.run("run", "-p", "-m", halo.script(HI), "first")
    assert halo.state().roots == (str(library),)


@pytest.mark.parametrize(("named", "said"), [("nowhere", "there is no such folder"), (".", "already has the folder")])
async def test_a_folder_that_cannot_be_added_is_said_at_once(halo: Halo, named: str, said: str) -> None:
    done = await halo.run("run", "-p", "-m", halo.script(HI), "--add-dir", named, "first")
    assert (done.code, done.out, halo.tasks) == (2, "", [])
    assert said in " ".join(done.err.split())


async def test_hooks_of_a_further_folder_run_only_when_it_is_trusted(halo: Halo, library: Path) -> None:
    hooks = library / ".halocline" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "PreToolUse").write_text(f"#!/bin/sh\npwd > {halo.root}/ran\n")
    (hooks / "PreToolUse").chmod(0o755)
    words = ("run", "-p", "-y", "--add-dir", str(library), "-m")
    done = await halo.run(*words, halo.script({"call": [shell("true")]}, HI), "first")
    assert f"{library} is not trusted" in " ".join(done.err.split())
    assert f"halo trust add {library}" in " ".join(done.err.split())
    assert not (halo.root / "ran").exists()
    assert (await halo.run("trust", "add", str(library))).code == 0
    await halo.run(*words, halo.script({"call": [shell("true")]}, HI), "first")
    assert (halo.root / "ran").read_text().strip() == str(library)


async def test_a_conversation_gets_one_more_folder(halo: Halo, library: Path) -> None:
    path = str(library / "lib.py")
    edit = {"call": [call("read_file", path=path), call("write_to_file", path=path, content="two\n")]}
    model = halo.script({"text": "The first answer."}, edit, {"text": "The second answer."})
    terminal = halo.terminal("-m", model, "--approval-mode", "accept-edits", "one")
    await shows(terminal, "The first answer")
    await shows(terminal, "What should I do?")
    terminal.send(f"/add-dir {library}/nowhere\r")
    await shows(terminal, "no such folder")
    await shows(terminal, "What should I do?")
    terminal.send(f"/add-dir {library}\r")
    await shows(terminal, "This task works in")
    await shows(terminal, "What should I do?")
    terminal.send("two\r")
    await shows(terminal, "The second answer")
    await shows(terminal, "What should I do?")
    assert (library / "lib.py").read_text() == "two\n"
    terminal.send("\x04")
    await shows(terminal, pexpect.EOF)


async def test_policy_explain_judges_a_further_folder_as_a_task_would_that_has_it(halo: Halo, library: Path) -> None:
    words = ("policy", "explain", "--json")
    said = [
        json.loads((await halo.run(*words, *more, f"cat {library}/lib.py")).out)["decision"]
        for more in ((), ("--add-dir", str(library)))
    ]
    assert said == ["ask", "allow"]


@pytest.mark.parametrize(("word", "told"), [("/zz", "Do the command."), ("/sk", "Do the skill."), ("/zzz", "")])
async def test_the_first_prompt_has_the_commands_and_skills_of_every_folder(halo: Halo, library: Path, word, told):
    (library / ".claude" / "commands").mkdir(parents=True)
    (library / ".claude" / "commands" / "zz.md").write_text("Do the command.\n")
    (library / ".claude" / "skills" / "sk").mkdir(parents=True)
    (library / ".claude" / "skills" / "sk" / "SKILL.md").write_text(
        "---\nname: sk\ndescription: A skill.\n---\nDo the skill.\n"
    )
    model = halo.script({**HI, "expect": told})
    done = await halo.run("run", "-p", "-y", "-m", model, "--add-dir", str(library), word)
    assert (done.code, done.out) == ((0, "Hello.\n") if told else (2, ""))
    assert told or "There is no slash command /zzz. Did you mean /zz?" in " ".join(done.err.split())
