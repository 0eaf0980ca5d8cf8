import json
import os
import shutil
from pathlib import Path

from tests.importers import transcripts
from tests.surfaces.cli.halo_process import Halo

from halocline.protocol import codec, events as ev

GOLDEN = Path(__file__).parents[2] / "golden" / "format-1"


def given(halo: Halo) -> None:
    """One conversation of each program, led in the project."""
    transcripts.cline(halo.root, str(halo.folder))
    transcripts.cline_session(halo.root, str(halo.folder))
    transcripts.claude(halo.root, str(halo.folder))
    transcripts.codex(halo.root, str(halo.folder))


def originals(halo: Halo) -> dict[Path, tuple[bytes, int]]:
    folders = (halo.root / name for name in (".config", ".cline", ".claude", ".codex"))
    files = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    return {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in files}


async def test_import_alone_lists_what_is_there_and_makes_nothing(halo: Halo) -> None:
    given(halo)
    done = await halo.run("import")
    assert done.code == 0
    for said in ("Repair the parser", "List the files", "What is wrong?", "Look around", "4 conversations."):
        assert said in done.out
    assert halo.tasks == []


async def test_all_are_taken_over_once_and_the_originals_are_as_they_were(halo: Halo) -> None:
    given(halo)
    before = originals(halo)
    first = await halo.run("import", "all")
    logs = {task: halo.raw_log(task) for task in halo.tasks}
    second = await halo.run("import", "all")
    assert (first.code, len(logs)) == (0, 4)
    assert "4 imported." in first.out
    assert "0 imported, 4 already imported." in second.out
    assert {task: halo.raw_log(task) for task in halo.tasks} == logs
    assert originals(halo) == before
    assert not list((halo.home / "importing").iterdir())


async def test_an_imported_task_is_shown_listed_exported_and_weighed(halo: Halo) -> None:
    transcripts.claude(halo.root, str(halo.folder))
    await halo.run("import", "claude")
    (task,) = halo.tasks
    shown = await halo.run("tasks", "show", task)
    assert "❯ What is wrong?" in shown.out
    assert "Read /p/a.py" in shown.out
    assert "2025-10-09" in (await halo.run("tasks", "list")).out
    assert "## Prompt" in (await halo.run("export", task)).out
    assert "claude-sonnet-4-5" in (await halo.run("tasks", "show", task, "--cost")).out
    assert (await halo.run("context", task)).code == 0


async def test_an_imported_task_goes_on_with_a_model_of_today_that_reads_what_was_said(halo: Halo) -> None:
    transcripts.cline(halo.root, str(halo.folder))
    await halo.run("import", "cline")
    (task,) = halo.tasks
    replies = sum(isinstance(event, ev.AssistantMessageCompleted) for event in halo.log(task))
    turns = [{"text": "never asked"}] * replies + [{"text": "Going on.", "expect": "was imported"}]
    done = await halo.run("-p", "-r", task, "-m", halo.script(*turns), "go on")
    assert (done.code, done.out) == (0, "Going on.\n")
    assert halo.state(task).model.name.startswith("scripted/")


async def test_a_task_that_was_cut_short_elsewhere_does_not_go_on_by_itself(halo: Halo) -> None:
    transcripts.cline(halo.root, str(halo.folder))
    await halo.run("import", "cline")
    done = await halo.run("-p", "-r", halo.tasks[0], "-m", halo.script({"text": "No."}))
    assert (done.code, "needs a prompt" in done.err) == (2, True)


async def test_a_conversation_that_has_grown_is_imported_anew_into_the_same_task(halo: Halo) -> None:
    path = transcripts.claude(halo.root, str(halo.folder))
    await halo.run("import", "claude")
    (task,) = halo.tasks
    before = len(halo.raw_log(task))
    line = {"type": "user", "uuid": "u9", "parentUuid": "a5", "message": {"role": "user", "content": "More"}}
    with open(path, "a") as file:
        file.write(json.dumps(line) + "\n")
    assert "· grown ·" in (await halo.run("import")).out
    done = await halo.run("import", "claude")
    assert "1 of them updated" in done.out
    assert halo.tasks == [task]
    assert len(halo.raw_log(task)) > before


async def test_a_task_that_was_gone_on_with_is_left_alone(halo: Halo) -> None:
    path = transcripts.aider(halo.folder)
    await halo.run("import", "aider", str(path))
    task = halo.tasks[-1]
    await halo.run("-p", "-r", task, "-m", halo.script({"text": "Hi."}, {"text": "Hi."}), "go on")
    before = halo.raw_log(task)
    path.write_text(path.read_text() + "\n#### more\n\nYes.\n")
    done = await halo.run("import", "aider", str(path))
    assert "continued here, so not changed" in done.out
    assert halo.raw_log(task) == before


async def test_a_dry_run_says_what_would_come_of_it_and_writes_nothing(halo: Halo) -> None:
    given(halo)
    done = await halo.run("import", "all", "--dry-run")
    assert "4 would be imported." in done.out
    assert (halo.tasks, (halo.home / "blobs").exists()) == ([], False)


async def test_one_is_taken_by_its_id_and_json_says_what_became_of_it(halo: Halo) -> None:
    given(halo)
    (line,) = (await halo.run("import", "claude", "0a1b2c", "--json")).lines
    assert (line["task"], line["standing"], line["turns"]) == (halo.tasks[0], "new", 2)
    assert line["lost"] == ["1 × line of a sub-agent", "2 × line of an abandoned branch"]
    listed = (await halo.run("import", "--json")).lines
    assert {row["id"]: row["standing"] for row in listed}["0a1b2c"] == "imported"


async def test_a_task_goes_on_in_another_folder_when_one_is_named(halo: Halo, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    transcripts.codex(halo.root, "/gone/away")
    said = await halo.run("import", "codex", "--dry-run")
    assert "That folder does not exist; name another with --workspace DIR." in said.out
    await halo.run("import", "codex")
    gone = await halo.run("-p", "-r", halo.tasks[0], "-m", halo.script({"text": "No."}), "go on")
    assert (gone.code, "halo import codex 0199-cafe --workspace DIR" in gone.err) == (2, True)
    moved = await halo.run("import", "codex", "0199-cafe", "--workspace", str(other))
    assert "1 imported, 1 of them for another folder." in moved.out
    assert halo.state().workspace == str(other)
    assert "0 imported, 1 already imported." in (await halo.run("import", "codex")).out


async def test_what_is_not_there_is_said(halo: Halo, tmp_path: Path) -> None:
    assert (await halo.run("import")).out.startswith("No conversations of other programs found.\n")
    for words in (("cline", "nope"), ("cline", "--since", "monday"), ("claude", str(tmp_path / "project"))):
        done = await halo.run("import", *words)
        assert (done.code, done.err[:6]) == (2, "halo: ")


async def test_only_those_since_a_day_are_taken(halo: Halo) -> None:
    transcripts.cline(halo.root, str(halo.folder))
    assert "Repair" not in (await halo.run("import", "--since", "2025-11-01")).out
    assert "Repair" in (await halo.run("import", "--since", "2025-10-01")).out


async def test_escape_sequences_of_a_transcript_reach_no_terminal(halo: Halo) -> None:
    path = transcripts.claude(halo.root, str(halo.folder))
    path.write_text(path.read_text().replace("What is wrong?", "\\u001b]0;owned\\u0007Title\\u202e"))
    outputs = [await halo.run("import"), await halo.run("import", "claude")]
    outputs.append(await halo.run("tasks", "show", halo.tasks[0]))
    assert not any(sign in done.out for done in outputs for sign in ("\x1b]", "\x07", "\u202e"))


async def test_a_key_in_a_title_is_shown_by_no_import(halo: Halo) -> None:
    key = "sk-ant-api03-" + "Ab3" * 20
    path = transcripts.claude(halo.root, str(halo.folder))
    path.write_text(path.read_text().replace("What is wrong?", f"Why is {key} refused?"))
    ways = (["import"], ["import", "--dry-run", "all"], ["import", "--json", "claude"], ["tasks", "list"])
    outputs = [(await halo.run(*words)).out for words in ways]
    assert [key in out for out in outputs] == [False] * 4
    assert all("Why is" in out for out in outputs)


async def test_an_imported_task_cannot_be_replayed_and_says_why(halo: Halo) -> None:
    transcripts.codex(halo.root, str(halo.folder))
    await halo.run("import", "codex")
    done = await halo.run("replay", halo.tasks[0])
    assert done.code == 2
    assert "was imported from codex; tasks that did not run here cannot be replayed" in done.err


async def test_an_import_that_was_killed_leaves_no_task(halo: Halo) -> None:
    transcripts.codex(halo.root, str(halo.folder))
    left = halo.home / "importing" / "x-1"
    left.mkdir(parents=True)
    (left / "events.jsonl").write_text("{")
    os.utime(left, (0, 0))
    assert "No tasks yet" in (await halo.run("tasks", "list", "--all")).out
    assert (await halo.run("import", "codex")).code == 0
    assert len(halo.tasks) == 1
    assert not left.exists()


async def test_an_imported_task_that_was_deleted_can_be_imported_again(halo: Halo) -> None:
    transcripts.codex(halo.root, str(halo.folder))
    await halo.run("import", "codex")
    shutil.rmtree(halo.home / "tasks" / halo.tasks[0])
    assert "1 imported" in (await halo.run("import", "codex")).out
    assert halo.log()[0].origin is not None


async def test_an_imported_task_that_is_too_long_for_a_model_of_today_is_shortened(halo: Halo) -> None:
    lines: list[dict[str, object]] = []
    for number in range(30):
        meta = {"type": "user", "sessionId": "long", "cwd": str(halo.folder), "uuid": f"u{number}"}
        lines.append({**meta, "message": {"role": "user", "content": f"Prompt {number} " + "and more words " * 400}})
        said = {"id": f"m{number}", "role": "assistant", "content": [transcripts.text("Yes.")]}
        lines.append({**meta, "type": "assistant", "uuid": f"a{number}", "message": said})
    transcripts.write_lines(halo.root / ".claude/projects/-p/long.jsonl", lines)
    await halo.run("import", "claude")
    (task,) = halo.tasks
    script = halo.root / "script.toml"
    script.write_text('window = 40000\nsummary = "They agreed."\n' + '[[turn]]\ntext = "Going on."\n' * 31)
    done = await halo.run("-p", "-r", task, "-m", f"scripted/{script}", "--context-window", "40000", "go on")
    assert (done.code, done.out) == (0, "Going on.\n")
    assert any(isinstance(event, ev.Compacted) for event in halo.log(task))


async def test_an_imported_task_is_found_by_its_words_and_forked(halo: Halo) -> None:
    transcripts.claude(halo.root, str(halo.folder))
    await halo.run("import", "claude")
    (task,) = halo.tasks
    assert task in (await halo.run("tasks", "list", "--search", "What is wrong")).out
    replies = sum(isinstance(event, ev.AssistantMessageCompleted) for event in halo.log(task))
    script = halo.script(*[{"text": "No."}] * replies, {"text": "Another way.", "expect": "was imported"})
    assert (await halo.run("fork", task, "-m", script)).code == 0
    (fork,) = set(halo.tasks) - {task}
    done = await halo.run("-p", "-r", fork, "go on")
    assert (done.code, done.out) == (0, "Another way.\n")
    assert halo.state(fork).prompt.system
    assert "0 imported, 1 already imported." in (await halo.run("import", "claude")).out


async def test_an_imported_task_is_forked_from_a_moment_of_it(halo: Halo) -> None:
    transcripts.codex(halo.root, str(halo.folder))
    await halo.run("import", "codex")
    (task,) = halo.tasks
    at = next(event.seq for event in halo.log(task) if isinstance(event, ev.ToolCallEnded))
    assert (await halo.run("fork", task, "--at", str(at))).code == 0
    (fork,) = set(halo.tasks) - {task}
    done = await halo.run("-p", "-r", fork, "-m", halo.script(*[{"text": "On."}] * 3), "go on")
    assert (done.code, done.out) == (0, "On.\n")
    assert (await halo.run("tasks", "show", fork)).code == 0


async def test_a_task_that_goes_on_here_has_the_system_prompt_and_the_skills_of_today(halo: Halo) -> None:
    transcripts.aider(halo.folder)
    await halo.run("import", "aider", str(halo.folder))
    skill = halo.folder / ".halocline/skills/greet/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: greet\ndescription: How to greet.\n---\nSay hello.\n")
    task = halo.tasks[0]
    assert halo.state(task).prompt.system == ""
    await halo.run("-p", "-r", task, "-m", halo.script(*[{"text": "Hi."}] * 3), "go on")
    assert "How to greet." in halo.state(task).prompt.system
    assert "use_skill" in halo.state(task).prompt.tools


async def test_a_task_that_an_earlier_version_imported_goes_on(halo: Halo) -> None:
    lines = (GOLDEN / "adopted.jsonl").read_text().splitlines(keepends=True)
    before = [line for line in lines if codec.decode(line.encode()).at < transcripts.STARTED + 1]
    folder = halo.home / "tasks" / codec.decode(lines[0].encode()).task
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("".join(before).replace("/home/someone/project", str(halo.folder)))
    done = await halo.run("-p", "-r", folder.name, "-m", halo.script(*[{"text": "Going on."}] * 5), "go on")
    assert (done.code, done.out) == (0, "Going on.\n")
    assert halo.state().prompt.system


async def test_what_a_person_called_an_imported_task_stays_when_it_is_imported_anew(halo: Halo) -> None:
    path = transcripts.claude(halo.root, str(halo.folder))
    await halo.run("import", "claude")
    await halo.run("tasks", "rename", halo.tasks[0], "The number")
    line = {"type": "user", "uuid": "u9", "parentUuid": "a5", "message": {"role": "user", "content": "Words of later"}}
    with open(path, "a") as file:
        file.write(json.dumps(line) + "\n")
    assert "1 of them updated" in (await halo.run("import", "claude")).out
    assert "The number" in (await halo.run("tasks", "list", "--search", "later")).out
    assert "0 imported, 1 already imported." in (await halo.run("import", "claude")).out


async def test_a_source_behind_a_link_and_its_copy_are_one_conversation(halo: Halo) -> None:
    path = transcripts.claude(halo.root / "dotfiles", str(halo.folder))
    (halo.root / ".claude").symlink_to(halo.root / "dotfiles/.claude")
    other = halo.root / ".claude/projects/-other"
    other.mkdir()
    (other / path.name).symlink_to(path)
    assert "1 conversation." in (await halo.run("import")).out
    assert "1 imported." in (await halo.run("import", "all")).out
    assert "0 imported, 1 already imported." in (await halo.run("import", "claude", str(other / path.name))).out


async def test_of_a_damaged_file_comes_what_is_whole_and_it_says_what_is_not(halo: Halo) -> None:
    path = transcripts.claude(halo.root, str(halo.folder))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3] + b"\xff\x00{")
    done = await halo.run("import", "claude")
    assert done.code == 0
    assert "not imported: 1 × unreadable line" in done.out
    shown = (await halo.run("tasks", "show", halo.tasks[0])).out
    assert "Not imported: 1 × line of a sub-agent, 1 × unreadable line." in " ".join(shown.split())


async def test_what_cannot_be_read_at_all_is_said_and_the_rest_is_taken(halo: Halo) -> None:
    transcripts.codex(halo.root, str(halo.folder))
    folder = halo.root / ".claude/projects/-p"
    folder.mkdir(parents=True)
    (folder / "garbage.jsonl").write_bytes(os.urandom(3000))
    done = await halo.run("import", "all")
    assert (done.code, "1 imported." in done.out) == (0, True)


async def test_the_list_says_where_rules_and_servers_of_others_are(halo: Halo) -> None:
    given(halo)
    out = (await halo.run("import")).out
    assert "halo rules list" in out
    assert "halo import mcp" in out


async def test_a_file_that_is_named_alone_is_read_as_what_it_is(halo: Halo) -> None:
    for number, made in enumerate((transcripts.claude, transcripts.codex, transcripts.cline_session), start=1):
        path = made(halo.root / "elsewhere", str(halo.folder))
        assert "1 imported." in (await halo.run("import", str(path))).out
        assert len(halo.tasks) == number
    assert {event.origin.tool for task in halo.tasks for event in halo.log(task)[:1]} == {"claude", "codex", "cline"}
    refused = await halo.run("import", "nope")
    assert (refused.code, "is neither a known agent nor a file" in refused.err) == (2, True)


async def test_where_it_cannot_be_looked_is_said_and_the_rest_is_found(halo: Halo) -> None:
    transcripts.claude(halo.root, str(halo.folder))
    halo.env["CODEX_HOME"] = "x" * 300
    done = await halo.run("import")
    assert "Cannot search for conversations of Codex" in done.err
    assert "1 conversation." in done.out
