import asyncio
import signal
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo, call, ended, shell, until_written
from tests.surfaces.cli.test_halo_terminal import COMPOSER, CTRL_D, Person

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, Mode

HI = {"text": "Hello."}


async def test_continue_goes_on_with_the_newest_task_of_this_folder(halo: Halo, tmp_path: Path) -> None:
    model, other = halo.script(HI, {**HI, "expect": "again"}), tmp_path / "other"
    other.mkdir()
    await halo.run("-p", "-m", model, "first")
    newest = (await halo.run("--output-format", "json", "-m", model, "second")).result["task"]
    await halo.run("-p", "-m", model, "elsewhere", cwd=other)
    done = await halo.run("-c", "--output-format", "json", "-m", model, "again")
    assert (done.code, done.result["task"], done.result["steps"]) == (0, newest, 2)


async def test_continue_without_a_task_here_says_so(halo: Halo) -> None:
    done = await halo.run("-c", "-p", "-m", halo.script(HI), "again")
    assert done.code == 2
    assert f"No task to resume in {halo.folder}." in done.err


async def test_a_task_that_was_cut_short_goes_on_without_a_prompt(halo: Halo) -> None:
    assert (await halo.run("-p", "-m", halo.script({"fault": "auth"}), "first")).code == 1
    done = await halo.run("-c", "-p", "-m", halo.script({**HI, "expect": "Continue where you left off."}))
    assert (done.code, done.out) == (0, "Hello.\n")


async def test_a_task_at_its_limit_goes_on_without_a_prompt(halo: Halo) -> None:
    model = halo.script({"call": [call("list_files", path=".")]}, HI)
    assert (await halo.run("-p", "--max-steps", "1", "-m", model, "first")).code == 3
    assert (await halo.run("-r", halo.tasks[0], "-p", "-m", model)).code == 0


async def test_a_task_that_was_stopped_does_not_go_on_without_a_prompt(halo: Halo) -> None:
    model = halo.script({"text": "slow " * 500, "pace": 0.05}, HI)
    process = await halo.start("-p", "-m", model, "first")
    async with asyncio.timeout(60):
        while not (halo.tasks and any(isinstance(event, ev.StepStarted) for event in halo.log())):
            await asyncio.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert (await ended(process)).code == 130
    done = await halo.run("-c", "-p", "-m", model)
    assert (done.code, done.out) == (2, "")
    assert "was stopped, so it does not continue by itself" in done.err
    assert f'halo -r {halo.tasks[0]} -p "Continue where you left off."' in done.err
    assert (await halo.run("-c", "-p", "-m", model, "Continue where you left off.")).code == 0


async def test_a_finished_task_wants_a_prompt(halo: Halo) -> None:
    model = halo.script(HI, HI)
    await halo.run("-p", "-m", model, "first")
    done = await halo.run("-c", "-p", "-m", model)
    assert (done.code, done.out) == (2, "")
    assert "is finished and needs a prompt" in done.err


async def test_the_end_of_an_id_is_enough_to_resume(halo: Halo) -> None:
    model = halo.script(HI, HI)
    await halo.run("-p", "-m", model, "first")
    done = await halo.run("-r", halo.tasks[0][-4:], "-p", "-m", model, "again")
    assert (done.code, len(halo.tasks)) == (0, 1)


async def test_an_unknown_id_is_a_wrong_call(halo: Halo) -> None:
    done = await halo.run("-r", "nope", "-p", "-m", halo.script(HI), "again")
    assert (done.code, done.err) == (2, "halo: There is no task 'nope'.\n      See them with: halo tasks list\n")


async def test_a_task_resumed_elsewhere_keeps_its_own_folder_and_says_so(halo: Halo, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    model = halo.script(HI, {"call": [shell("touch made")]}, HI)
    await halo.run("-p", "-m", model, "first")
    done = await halo.run("-r", halo.tasks[0], "-y", "-p", "-m", model, "again", cwd=other)
    assert (done.code, done.out) == (0, "Hello.\n")
    assert done.err == f"halo: This task works in its own folder: {halo.folder}\n"
    assert (halo.folder / "made").exists()


async def test_a_task_whose_folder_is_gone_says_so(halo: Halo, tmp_path: Path) -> None:
    model = halo.script(HI, HI)
    await halo.run("-p", "-m", model, "first")
    halo.folder.rename(tmp_path / "moved")
    done = await halo.run("-r", halo.tasks[0], "-p", "-m", model, "again", cwd=tmp_path)
    assert done.code == 2
    assert f"The folder of task {halo.tasks[0]} does not exist: {halo.folder}" in done.err
    assert "Restore the folder" in done.err


async def test_another_folder_can_be_worked_in(halo: Halo, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    done = await halo.run("-C", str(other), "-y", "-p", "-m", halo.script({"call": [shell("touch made")]}, HI), "hi")
    assert done.code == 0
    assert (other / "made").exists()


async def test_what_was_chosen_anew_on_resuming_is_written_down(halo: Halo) -> None:
    await halo.run("-p", "--mode", "plan", "-m", halo.script(HI), "first")
    changed = halo.script(HI, HI, name="other")
    await halo.run("-c", "-p", "--mode", "act", "--approval-mode", "auto", "-m", changed, "again")
    state = halo.state()
    assert (state.model.name, state.plan.mode, state.permissions.approval_mode) == (
        changed,
        Mode.ACT,
        ApprovalMode.AUTO,
    )


async def test_what_was_not_chosen_anew_stays(halo: Halo) -> None:
    model = halo.script(HI, HI)
    await halo.run("-p", "--mode", "plan", "--approval-mode", "auto", "-m", model, "first")
    await halo.run("-c", "-p", "-m", model, "again")
    assert (halo.state().plan.mode, halo.state().permissions.approval_mode) == (Mode.PLAN, ApprovalMode.AUTO)


@pytest.mark.parametrize(
    ("flags", "edited", "ran"),
    [
        (["--approval-mode", "ask"], False, False),
        (["--approval-mode", "accept-edits"], True, False),
        (["--approval-mode", "auto"], True, False),
        (["--approval-mode", "yolo"], True, True),
        (["-y"], True, True),
        (["--approval-mode", "plan"], False, False),
        (["--mode", "plan"], False, False),
        (["--mode", "plan", "-y"], False, False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
async def test_an_approval_mode_says_what_is_done_without_asking(
    halo: Halo, flags: list[str], edited: bool, ran: bool
) -> None:
    calls = [call("write_to_file", path="edited", content="x\n"), shell("touch ran", risky=True)]
    await halo.run("-p", *flags, "-m", halo.script({"call": calls}, HI), "hi")
    assert ((halo.folder / "edited").exists(), (halo.folder / "ran").exists()) == (edited, ran)


async def test_two_processes_cannot_write_one_task(halo: Halo) -> None:
    model = halo.script({"call": [shell("echo began > began; sleep 1000")]}, HI)
    first = await halo.start("-y", "-p", "-m", model, "first")
    await until_written(halo.folder / "began")
    done = await halo.run("-c", "-p", "-m", model, "again")
    first.terminate()
    assert (await ended(first)).code == 130
    assert done.code == 1
    assert f"is open in another process (pid {first.pid})" in done.err
    assert f"halo attach {halo.tasks[0]}" in done.err


async def test_without_an_id_the_task_is_picked_from_a_list(halo: Halo) -> None:
    model = halo.script(HI, HI, {**HI, "expect": "again"})
    await halo.run("-p", "-m", model, "first")
    (first,) = halo.tasks
    await halo.run("-p", "-m", model, "second")
    person = Person(halo, "-r", "-m", model).sees("Which task?", "second", "first", "1 or 2").types("2\r")
    person.sees("act mode", "first", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert [event.content[0].text for event in halo.log(first) if isinstance(event, ev.TurnStarted)] == ["first"]  # type: ignore[union-attr]


async def test_without_an_id_and_a_person_the_task_must_be_named(halo: Halo) -> None:
    await halo.run("-p", "-m", halo.script(HI), "first")
    done = await halo.run("-p", "-r")
    assert (done.code, "Which task?" in done.err) == (2, True)
    done = await halo.run("attach")
    assert (done.code, "No task is open in another process" in done.err) == (2, True)
