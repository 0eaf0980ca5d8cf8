import asyncio
import json
import re
import shutil
import signal

import pytest
from tests.providers.documents import documents
from tests.surfaces.cli.forked_terminal import HaloTerminal
from tests.surfaces.cli.halo_process import Halo, call, ended, line_with, shell, until_written

HI = {"text": "Hello."}


def edits(content: str) -> dict[str, object]:
    return {"call": [call("read_file", path="note.txt"), call("write_to_file", path="note.txt", content=content)]}


async def made_task(halo: Halo, prompt: str = "write a note") -> str:
    (halo.folder / "note.txt").write_text("before\n")
    done = await halo.run("-y", "-p", "-m", halo.script(edits("after\n"), HI), prompt)
    assert (done.code, done.out) == (0, "Hello.\n")
    return halo.tasks[-1]


async def test_the_list_names_the_tasks_of_this_folder(halo: Halo) -> None:
    task = await made_task(halo)
    done = await halo.run("tasks", "list")
    assert re.fullmatch(rf"{task}  \d{{4}}-\d\d-\d\d \d\d:\d\d  done         write a note\n", done.out)


async def test_the_list_of_another_folder_is_empty_and_says_how_to_see_all(halo: Halo) -> None:
    task = await made_task(halo)
    assert "--all" in (await halo.run("tasks", "list", cwd=halo.root)).out
    assert task in (await halo.run("tasks", "list", "--all", cwd=halo.root)).out


async def test_the_list_is_json_for_programs(halo: Halo) -> None:
    task = await made_task(halo)
    (line,) = (await halo.run("tasks", "list", "--json")).out.splitlines()
    assert (json.loads(line)["task"], json.loads(line)["status"]) == (task, "end_turn")


def test_a_long_title_fits_on_a_terminal(halo: Halo) -> None:
    asyncio.run(made_task(halo, "a long title " * 20))
    out = HaloTerminal(["tasks", "list"], env=halo.env, cwd=halo.folder, size=(24, 80), encoding=None)
    assert max(map(len, out.read().decode().splitlines())) == 80
    out.close()


async def test_a_task_shows_what_each_step_took(halo: Halo) -> None:
    turn = {"text": "Hello.", "usage": {"input": 1200, "output": 40}, "cost": 0.25}
    await halo.run("-p", "-m", halo.script(turn), "hi")
    done = await halo.run("tasks", "show", halo.tasks[0], "--cost")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "Turn 1 · hi"
    assert next(line for line in done.out.splitlines() if "sum" in line.split()).split() == [
        "sum",
        "1.2k",
        "0",
        "0",
        "40",
        "0",
        "0.2500",
    ]


async def test_a_task_is_shown_by_the_end_of_its_name(halo: Halo) -> None:
    task = await made_task(halo)
    done = await halo.run("tasks", "show", task[-4:])
    assert (done.code, done.err) == (0, "")
    assert all(text in done.out for text in ("write a note", "Write note.txt", "+ after", "Hello.", task))


async def test_an_ambiguous_name_lists_the_tasks_it_fits(halo: Halo) -> None:
    model = halo.script(HI)
    await halo.run("-p", "-m", model, "one")
    await halo.run("-p", "-m", model, "two")
    done = await halo.run("tasks", "show", halo.tasks[0][:4])
    assert (done.code, done.out) == (2, "")
    assert all(task in done.err for task in halo.tasks)


async def test_a_task_is_followed_while_another_process_runs_it(halo: Halo) -> None:
    command = shell("echo began > began; until [ -e go ]; do sleep 0.01; done")
    first = await halo.start("-y", "-p", "-m", halo.script({"call": [command]}, {"text": "The end."}), "wait")
    await until_written(halo.folder / "began")
    follower = await halo.start("tasks", "show", halo.tasks[0], "--follow")
    await line_with(follower, "wait")
    (halo.folder / "go").touch()
    await line_with(follower, "The end.")
    assert (await ended(first)).code == 0
    follower.send_signal(signal.SIGINT)
    done = await ended(follower)
    assert (done.code, done.err) == (130, "")


async def test_deleting_wants_a_yes(halo: Halo) -> None:
    task = await made_task(halo)
    done = await halo.run("tasks", "delete", task)
    assert (done.code, halo.tasks) == (2, [task])
    assert "--yes" in done.err
    assert (await halo.run("tasks", "delete", task, "-y")).out.startswith(f"Deleted {task}.")
    assert halo.tasks == []


async def test_a_task_that_runs_is_not_deleted(halo: Halo) -> None:
    first = await halo.start("-y", "-p", "-m", halo.script({"call": [shell("echo x > began; sleep 1000")]}), "wait")
    await until_written(halo.folder / "began")
    done = await halo.run("tasks", "delete", "-y", halo.tasks[0])
    first.terminate()
    await ended(first)
    assert (done.code, len(halo.tasks)) == (1, 1)
    assert "is open in another process" in done.err


async def test_an_export_is_markdown_or_the_log_itself(halo: Halo) -> None:
    task = await made_task(halo)
    markdown = await halo.run("export", task)
    assert markdown.out.startswith("# write a note\n")
    assert "+after" in markdown.out
    lines = await halo.run("export", task, "-f", "jsonl")
    assert lines.out.encode().splitlines() == halo.raw_log(task)


async def test_an_export_goes_to_a_file(halo: Halo) -> None:
    task = await made_task(halo)
    done = await halo.run("export", task, "-o", "out.md")
    assert (done.code, done.out, done.err) == (0, "", "Written: out.md\n")
    assert (halo.folder / "out.md").read_text().startswith("# write a note\n")
    done = await halo.run("export", task, "-o", "none/out.md")
    assert (done.code, done.err.splitlines()[0]) == (2, "halo: Cannot write none/out.md: No such file or directory.")


async def test_the_list_of_checkpoints_says_what_the_newest_one_leaves_out(halo: Halo) -> None:
    (halo.folder / ".gitignore").write_text("*.local\n")
    (halo.folder / "conf.local").write_text("mine\n")
    (halo.folder / "huge.bin").write_bytes(bytes(6_000_000))
    (halo.folder / "node_modules").mkdir()
    (halo.folder / "node_modules/made.js").write_text("again\n")
    await made_task(halo)
    listed = await halo.run("checkpoints", "list")
    said = " ".join(listed.err.split())
    assert len(listed.out.splitlines()) == 2
    for what in (
        "conf.local, because what .gitignore names is not saved.",
        "huge.bin, because files of such kinds over 256 kB are not saved.",
    ):
        assert f"The newest checkpoint leaves out: {what}" in said
    assert "node_modules" not in said


async def test_files_are_put_back_to_a_checkpoint_and_forth_again(halo: Halo) -> None:
    task = await made_task(halo)
    listed = (await halo.run("checkpoints", "list")).out.splitlines()
    assert [line.split()[0] for line in listed] == [f"{task}/2", f"{task}/1"]
    assert "-before\n+after\n" in (await halo.run("checkpoints", "diff", f"{task}/1")).out
    refused = await halo.run("checkpoints", "restore", f"{task}/1")
    assert (refused.code, refused.out) == (2, "  restore  note.txt\n1 file to change.\n")
    done = await halo.run("checkpoints", "restore", f"{task}/1", "-y")
    assert (halo.folder / "note.txt").read_text() == "before\n"
    undo = re.search(r"To undo: halo (.*)\n", done.out)
    assert undo
    await halo.run(*undo[1].split(), "-y")
    assert (halo.folder / "note.txt").read_text() == "after\n"


async def test_what_a_person_changed_since_stays_unless_it_is_chosen(halo: Halo) -> None:
    task = await made_task(halo)
    (halo.folder / "note.txt").write_text("mine\n")
    done = await halo.run("checkpoints", "restore", f"{task}/1", "-y")
    assert done.out.splitlines()[0] == "  keep (you and the task changed the same lines)  note.txt"
    assert (done.code, "No file was restored" in done.err, "--overwrite" in done.err) == (1, True, True)
    assert (halo.folder / "note.txt").read_text() == "mine\n"
    await halo.run("checkpoints", "restore", f"{task}/1", "-y", "--overwrite")
    assert (halo.folder / "note.txt").read_text() == "before\n"
    again = await halo.run("checkpoints", "restore", f"{task}/1", "-y")
    assert (again.code, again.out) == (0, "The files already match that checkpoint.\n")


async def test_a_moment_is_shown_compared_gone_back_to_and_forked(halo: Halo) -> None:
    task = await made_task(halo)
    points = (await halo.run("tasks", "show", task, "--points")).out.splitlines()
    prompt, end = (line.split()[0] for line in (points[0], points[-1]))
    shown = (await halo.run("tasks", "show", task, "--at", end)).out
    assert "  wrote note.txt\n" in shown
    assert f"halo fork {task} --at {end}" in shown
    stat = (await halo.run("checkpoints", "diff", "--since-completion", "--stat")).out
    assert stat.splitlines() == ["  changed  note.txt  +1 −1", "1 file, +1 −1"]
    back = await halo.run("checkpoints", "restore", f"{task}@{prompt}", "--what", "both", "-y")
    assert (back.code, (halo.folder / "note.txt").read_text()) == (0, "before\n")
    forked = (await halo.run("fork", task, "--at", end, "--files", str(halo.root / "copy"))).out
    assert (halo.root / "copy" / "note.txt").read_text() == "after\n"
    name = forked.splitlines()[0].rpartition(" ")[2]
    assert (await halo.run("replay", name)).code == 0


async def test_a_moment_that_is_not_there_says_which_are(halo: Halo) -> None:
    task = await made_task(halo)
    done = await halo.run("fork", task, "--at", "999")
    assert done.code == 2
    assert "no event 999: the task has events 1 to" in done.err
    assert (await halo.run("checkpoints", "diff")).code == 2


async def test_an_unknown_checkpoint_says_where_to_look(halo: Halo) -> None:
    await made_task(halo)
    done = await halo.run("checkpoints", "diff", "nope")
    assert done.code == 2
    assert "halo checkpoints list" in done.err


async def test_the_doctor_tells_what_works(halo: Halo) -> None:
    done = await halo.run("doctor")
    assert done.code == 0
    assert all(f"✓ {name}" in done.out for name in ("Python", "home", "settings", "git", "ripgrep", "checkpoints"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('sandbox = "off"', "not used; setting: off Approval mode auto asks before programs"),
        ('sandbox_network = true\nsandbox_writable = ["/nope"]', "In sandbox_writable, /nope is no folder."),
    ],
)
async def test_the_doctor_says_what_the_settings_make_of_the_sandbox(halo: Halo, settings: str, said: str) -> None:
    halo.home.mkdir(exist_ok=True)
    (halo.home / "settings.toml").write_text(f"{settings}\n")
    assert said in " ".join((await halo.run("doctor")).out.split())


async def test_the_doctor_lists_the_variables_that_are_withheld_and_passed_on(halo: Halo) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text('pass_environment = ["GH_*"]\n')
    done = await halo.run(
        "doctor", env={"GH_TOKEN": "a", "NPM_TOKEN": "b", "HTTPS_PROXY": "http://me:word@localhost:9"}
    )
    line = next(line for line in done.out.splitlines() if "✓ variables" in line)
    assert "HTTPS_PROXY, NPM_TOKEN" in line
    assert line.endswith("passed to commands: GH_TOKEN")


async def test_the_doctor_names_a_damaged_log_and_mends_it_so_that_the_task_goes_on(halo: Halo) -> None:
    task = await made_task(halo)
    log = halo.home / "tasks" / task / "events.jsonl"
    assert "✓ tasks        1 task\n" in (await halo.run("doctor")).out
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(damaged := b"".join(lines[:4] + lines[5:]))
    refused = await halo.run("-r", task, "-p", "-m", halo.script({"text": "Hello again."}), "go on")
    assert refused.code != 0
    assert f"The log of task {task} is damaged: event 6 found in place of event 5. Events 1 to 4 are" in refused.err
    assert "halo doctor --fix" in refused.err
    named = " ".join((await halo.run("doctor")).out.split())
    assert f"– tasks The log of task {task} is damaged: event 5 is missing; events 1 to 4 are intact, " in named
    assert log.read_bytes() == damaged
    mended = " ".join((await halo.run("doctor", "--fix")).out.split())
    assert f"Repaired; the damaged log is kept in {log.with_name('damaged-1.jsonl')}" in mended
    assert log.with_name("damaged-1.jsonl").read_bytes() == damaged
    assert "✓ tasks        1 task\n" in (await halo.run("doctor")).out
    assert "The log was damaged: its last" in (await halo.run("tasks", "show", task)).out
    again = await halo.run("-r", task, "-p", "-m", halo.script({"text": "Hello again."}), "go on")
    assert (again.code, again.out) == (0, "Hello again.\n")
    assert (await halo.run("replay", task)).code == 0


async def test_the_doctor_finds_wrong_settings(halo: Halo) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text("modle = 1\n")
    done = await halo.run("doctor")
    assert done.code == 1
    assert "✗ settings" in done.out


async def test_models_are_found_by_words_and_those_that_can_be_used_are_shown(halo: Halo) -> None:
    done = await halo.run("models", "CLAUDE", "opus", env={"ANTHROPIC_API_KEY": "k"})
    table, legend = done.out.split("\n\n")
    head, *rows = table.splitlines()
    assert head.split() == ["model", "window", "output", "$", "in", "$", "out", "$", "cached", "can"]
    assert rows
    assert all(row.startswith("anthropic/claude-opus") and "tools" in row for row in rows)
    assert "more without a key" in legend
    assert legend.endswith("halo models --all claude opus\n")


def test_more_models_than_fit_a_terminal_are_counted_by_provider(halo: Halo) -> None:
    out = HaloTerminal(["models", "-a"], env=halo.env, cwd=halo.folder, size=(24, 99), encoding=None)
    (line,) = (line for line in out.read().decode().splitlines() if line.startswith("halo models --all openrouter/ "))
    assert re.fullmatch(r"halo models --all openrouter/ +\d+ models", line)
    out.close()


async def test_without_a_key_no_model_is_listed_but_it_is_said_how_to_see_them(halo: Halo) -> None:
    done = await halo.run("models", "claude-opus-5-5")
    assert done.out.startswith("No provider of the ")
    assert "matching models is set up" in done.out
    assert len(done.out.splitlines()) == 1
    whole = await halo.run("models", "--all", "claude-opus-5-5")
    assert len(whole.out.splitlines()) > 5


async def test_models_that_the_settings_price_are_listed_with_their_price(halo: Halo) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text('[prices."openai/mine"]\ninput = 0.5\noutput = 1.5\nwindow = 9000\n')
    done = await halo.run("models", "openai/mine", "--json", "--all")
    model = json.loads(done.out)
    assert (model["name"], model["usable"], model["window"], model["output"]) == ("openai/mine", False, 9000, 1.5)


async def test_a_model_that_nobody_knows_may_be_named_all_the_same(halo: Halo) -> None:
    done = await halo.run("models", "zork")
    assert (done.code, done.out) == (0, "No known model matches. Other models work too: -m provider/model\n")


async def test_a_fetched_catalogue_serves_from_then_on_and_a_failure_leaves_it(halo: Halo) -> None:
    listed = {"tool_call": True, "limit": {"context": 5000}, "cost": {"input": 1, "output": 2}}
    far = {"npm": "@ai-sdk/openai-compatible", "api": "https://far.example/v1", "env": ["FAR_API_KEY"]}
    async with documents({"/api.json": {"far": far | {"models": {"big": listed}}}}) as server:
        env = {"HALOCLINE_CATALOGUE_URL": f"{server.url}/api.json", "FAR_API_KEY": "k"}
        done = await halo.run("models", "--refresh", env=env)
        assert (done.code, done.out, done.err) == (0, "", "halo: Updated the catalog: 1 models of 1 providers.\n")
        env["HALOCLINE_CATALOGUE_URL"] = f"{server.url}/nothing"
        failed = await halo.run("models", "--refresh", env=env)
        assert failed.code == 1
        assert "Cannot fetch the model catalog" in failed.err
        assert "the server answered with status 404" in failed.err
    (row,) = (json.loads(line) for line in (await halo.run("models", "far/", "--json", env=env)).out.splitlines())
    assert (row["name"], row["window"], row["usable"]) == ("far/big", 5000, True)


async def test_a_misspelt_model_is_tried_with_a_remark(halo: Halo, unused_tcp_port: int) -> None:
    proxy = f"http://127.0.0.1:{unused_tcp_port}"
    done = await halo.run(
        "-p", "-m", "anthropic/claude-opus-55", "--proxy", proxy, "hi", env={"ANTHROPIC_API_KEY": "k"}
    )
    assert "anthropic/claude-opus-55 is not in the model catalog: its context window and price are unknown." in done.err
    assert "Did you mean anthropic/claude-opus-5-5?" in done.err


@pytest.mark.parametrize(
    ("passed", "seen"), [("[]", set()), ('["*_KEY", "X_*", "GITHUB_TOKEN"]', {"GITHUB_TOKEN", "X_API_KEY"})]
)
async def test_commands_see_no_keys_but_what_a_person_passes_on(halo: Halo, passed: str, seen: set[str]) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text(
        f'pass_environment = {passed}\n[providers.work]\nbase_url = "http://h/v1"\nkey_variable = "WORK_SECRET"\n'
    )
    keys = {
        "WORK_SECRET": "a1",
        "SILICONFLOW_API_KEY": "b2",
        "OPENAI_API_KEY": "c3",
        "GITHUB_TOKEN": "d4",
        "X_API_KEY": "e5",
    }
    script = halo.script({"text": "", "call": [shell("env")]}, HI)
    await halo.run("-y", "-p", "-m", script, "hi", env=keys)
    log = b"".join(halo.raw_log())
    shown = {name for name in keys if f"{name}={keys[name]}".encode() in log}
    assert shown == seen


async def test_the_demo_runs_unattended_in_a_pipe(halo: Halo) -> None:
    done = await halo.run("demo", "-y")
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert all(
        text in done.out for text in ("Only the model is scripted", "All four tests pass", "To use a real model")
    )


async def test_a_restore_from_elsewhere_names_the_folder_and_how_to_make_a_deleted_one_again(halo: Halo) -> None:
    task = await made_task(halo)
    elsewhere = await halo.run("checkpoints", "restore", f"{task}/2", cwd=halo.root)
    assert f"halo checkpoints restore {task}/2 -C {halo.folder}" in " ".join(elsewhere.err.split())
    shutil.rmtree(halo.folder)
    place = halo.folder
    for words in ([], ["-C", str(place)]):
        refused = await halo.run("checkpoints", "restore", f"{task}/2", *words, cwd=halo.root)
        hint = f"mkdir -p {place} && halo checkpoints restore {task}/2 -C {place} --overwrite"
        assert (refused.code, hint in " ".join(refused.err.split())) == (2, True), refused.err
    place.mkdir()
    done = await halo.run(*hint.partition("&& halo ")[2].split(), "--yes", cwd=halo.root)
    assert (done.code, (place / "note.txt").read_text()) == (0, "after\n"), done.err
