"""A task that works in several folders."""

import shutil

import pytest
from tests.checkpoints.bench import git
from tests.journeys.test_time_travel import prompts, shell, turn, write

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Note, UserMessage
from halocline.providers.scripted.model import Call
from halocline.runtime.controller import TaskOptions
from halocline.runtime.history.forks import Fork

ASKS = ApprovalMode.ASK
YOLO = ApprovalMode.YOLO


@pytest.fixture
def library(tmp_path):
    folder = tmp_path / "library"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "lib.py").write_text("one\n")
    return folder


def both(library, *more, mode=YOLO):
    return TaskOptions(approval_mode=mode, roots=tuple(map(str, (library, *more))))


def rewrite(path, content):
    """Read a file, and write it anew."""
    return Call("read_file", {"path": str(path)}), write(str(path), content)


def notes(journey, source):
    messages = [message for message in journey.state.messages if isinstance(message, UserMessage)]
    parts = [part for message in messages for part in message.content]
    return "\n".join(part.text for part in parts if isinstance(part, Note) and part.source == source)


async def two_turns(journey, library):
    """The first turn makes a file in each folder, the second changes both."""
    changed = [write("a.txt", "two\n"), write(str(library / "lib.py"), "three\n")]
    client = journey.client(
        [
            turn("first", write("a.txt", "one\n"), *rewrite(library / "lib.py", "two\n")),
            turn("done"),
            turn("second", *changed, write(str(library / "new.py"), "new\n")),
            turn("done"),
        ]
    )
    await journey.open(client, both(library))
    await journey.prompt(client, "first")
    await journey.prompt(client, "second")
    return client


def held(journey, library):
    names = (journey.workspace / "a.txt", library / "lib.py", library / "new.py")
    return [path.read_text().strip() if path.exists() else "" for path in names]


async def test_each_folder_has_checkpoints_and_all_go_back_together(journey, library):
    client = await two_turns(journey, library)
    assert held(journey, library) == ["two", "three", "new"]
    restored = await client.time.go_back(cmd.GoBack(task=journey.task, to=prompts(journey)[1] - 1))
    assert held(journey, library) == ["one", "two", ""]
    assert set(restored.changed) == {"a.txt", str(library / "lib.py"), str(library / "new.py")}
    assert [other.root for other in restored.elsewhere] == [str(library)]
    await client.time.restore(journey.workspace, restored.undo)
    assert held(journey, library) == ["two", "three", "new"]
    await client.close()
    assert git(library, "status", "--porcelain") == "?? lib.py\n?? new.py\n"


async def test_a_number_of_the_first_folder_names_how_all_folders_were(journey, library):
    client = journey.client([turn("edit", *rewrite(library / "lib.py", "two\n")), turn("done")])
    await journey.open(client, both(library))
    await journey.prompt(client)
    await client.let_go(journey.task)
    infos = await client.checkpoints(journey.workspace).list(journey.task)
    assert infos[0].label == "Start"
    assert len(infos) == 2
    plan = await client.time.plan(journey.workspace, f"{journey.task}/1")
    assert plan.overwrites == (str(library / "lib.py"),)
    found = await client.time.compare(journey.workspace, f"{journey.task}/1")
    assert [file.path for file in found.files] == [str(library / "lib.py")]
    await client.close()


async def test_what_the_model_does_in_another_folder_is_judged_as_inside(journey, library):
    options = both(library, mode=ApprovalMode.ACCEPT_EDITS)
    await journey.run(
        turn("edit", *rewrite(library / "lib.py", "two\n"), write(str(library.parent / "outside.txt"), "no\n")),
        turn("done"),
        options=options,
    )
    assert [status for _, status in journey.ends] == ["completed", "completed", "rejected"]
    assert (library / "lib.py").read_text() == "two\n"


async def test_another_folder_keeps_its_own_ignore_file_and_what_its_rules_forbid(journey, library):
    (library / ".haloclineignore").write_text("secret/\n")
    (library / "secret").mkdir()
    (library / "secret" / "plan.txt").write_text("needle\n")
    (library / ".halocline").mkdir()
    (library / ".halocline" / "policy.toml").write_text(
        '[[rule]]\ndecision = "deny"\nkinds = ["edit"]\npaths = ["*.lock"]\n'
    )
    await journey.run(
        turn(
            "look",
            Call("read_file", {"path": str(library / "secret" / "plan.txt")}),
            Call("search_files", {"regex": "needle"}),
            write(str(library / "a.lock"), "x\n"),
            write("a.lock", "x\n"),
        ),
        turn("done"),
        options=both(library),
    )
    assert [status for _, status in journey.ends] == ["rejected", "completed", "rejected", "completed"]
    assert "no match" in journey.results[1]


async def test_a_search_without_a_folder_looks_in_all_of_them(journey, library):
    journey.write("here.txt", "needle here\n")
    (library / "there.txt").write_text("needle there\n")
    await journey.run(turn("look", Call("search_files", {"regex": "needle"})), turn("done"), options=both(library))
    assert "here.txt" in journey.results[0]
    assert str(library / "there.txt") in journey.results[0]


async def test_the_model_is_told_of_the_folders_and_of_their_rules(journey, library):
    (library / "AGENTS.md").write_text("Write docstrings.\n")
    (library / "inner").mkdir()
    (library / "inner" / "AGENTS.md").write_text("Only in here.\n")
    await journey.run(
        turn("edit", write(str(library / "inner" / "a.py"), "x = 1\n")), turn("done"), options=both(library)
    )
    assert str(library) in notes(journey, "environment")
    rules = notes(journey, "rules")
    assert f"## {library}/AGENTS.md" in rules
    assert f"It covers only {library}/." in rules
    assert "Only in here." in rules
    assert rules.count("Write docstrings.") == 1


async def test_a_mention_is_looked_for_in_every_folder(journey, library):
    journey.write("lib.py", "mine\n")
    (library / "other.py").write_text("theirs\n")
    await journey.run(turn("ok"), prompt="look at @other.py and @library:lib.py", options=both(library))
    told = "\n".join(part.text for m in journey.state.messages if isinstance(m, UserMessage) for part in m.content)
    assert "theirs" in told
    assert "one" in told
    assert "mine" not in told


@pytest.mark.parametrize("name", ["", "inner", ".."])
async def test_folders_that_overlap_are_refused(journey, library, name):
    (journey.workspace / "inner").mkdir()
    client = journey.client([])
    with pytest.raises(UsageError, match=r"cannot be added|already"):
        await client.start(journey.workspace, both(journey.workspace / name))
    with pytest.raises(UsageError, match="no such folder"):
        await client.start(journey.workspace, both(library / "nowhere"))
    await client.close()
    assert not list(journey.home.tasks.glob("*/events.jsonl"))


async def test_a_folder_that_went_is_named_and_the_task_goes_on(journey, library, tmp_path):
    third = tmp_path / "third"
    third.mkdir()
    await journey.run(turn("done"), options=both(library, third))
    shutil.rmtree(third)
    await journey.run(turn("done"), turn("done again"), resume=journey.task, options=TaskOptions(approval_mode=YOLO))
    assert any(f"{third} of this task is gone" in event.text for event in journey.of(ev.Noticed))
    assert journey.state.roots == (str(library),)
    assert journey.state.last_end.reason == "end_turn"


async def test_a_folder_joins_a_task_later_and_goes_back_to_how_it_was_then(journey, library):
    first = (turn("edit", write("a.txt", "one\n")), turn("done"))
    await journey.run(*first)
    begun = prompts(journey)[0]
    client = journey.client([*first, turn("edit", *rewrite(library / "lib.py", "two\n")), turn("done")])
    await journey.open(client, both(library), resume=journey.task)
    await journey.prompt(client)
    assert (library / "lib.py").read_text() == "two\n"
    await client.time.go_back(cmd.GoBack(task=journey.task, to=begun - 1))
    assert (library / "lib.py").read_text() == "one\n"
    assert not (journey.workspace / "a.txt").exists()
    assert client.tasks.search()[0].roots == (str(library),)
    await client.close()


async def test_a_command_may_change_every_folder(journey, library):
    client = journey.client([turn("run", shell(f"echo two > a.txt; echo two > {library}/lib.py")), turn("done")])
    await journey.open(client, both(library))
    await journey.prompt(client)
    await client.time.go_back(cmd.GoBack(task=journey.task, to=prompts(journey)[0] - 1))
    assert (library / "lib.py").read_text() == "one\n"
    assert not (journey.workspace / "a.txt").exists()
    await client.close()


async def test_a_fork_works_in_the_same_folders_and_goes_back_there(journey, library):
    first = (turn("edit", *rewrite(library / "lib.py", "two\n")), turn("done"))
    second = (turn("edit", *rewrite(library / "lib.py", "three\n")), turn("done"))
    await journey.run(*first, options=both(library))
    client = journey.client([*first, *second])
    fork = await client.time.fork(Fork("", journey.task))
    await journey.open(client, TaskOptions(approval_mode=YOLO), resume=fork)
    await journey.prompt(client)
    assert (library / "lib.py").read_text() == "three\n"
    begun = prompts(journey)
    await client.time.go_back(cmd.GoBack(task=fork, to=begun[1] - 1))
    assert (library / "lib.py").read_text() == "two\n"
    await client.time.go_back(cmd.GoBack(task=fork, to=begun[0] - 1))
    assert (library / "lib.py").read_text() == "one\n"
    await client.close()


async def test_a_folder_whose_checkpoints_were_given_up_is_named_and_the_others_go_back(journey, library):
    client = await two_turns(journey, library)
    await client.let_go(journey.task)
    for store in journey.home.checkpoints.glob("*/description"):
        if str(library) in store.read_text():
            shutil.rmtree(store.parent)
    restored = await client.time.restore(journey.workspace, f"{journey.task}@{prompts(journey)[1] - 1}")
    assert restored.kept == (str(library),)
    assert held(journey, library) == ["one", "three", "new"]
    await client.close()


async def test_files_of_every_folder_are_offered_for_mentions_but_hidden_ones(journey, library):
    (library / ".haloclineignore").write_text("secret.txt\n")
    (library / "secret.txt").write_text("x\n")
    journey.write("a.txt", "x\n")
    client = journey.client([turn("done")])
    await journey.open(client, both(library))
    found = await client.mentionable(journey.task)
    assert {"a.txt", f"{library}/lib.py"} <= {*found.files}
    assert f"{library}/secret.txt" not in found.files
    await journey.prompt(client)
    await client.close()


async def test_a_path_may_begin_with_the_name_of_a_folder_of_the_task(journey, library):
    await journey.run(
        turn("", Call("read_file", {"path": "@library:lib.py"}), Call("list_files", {"path": "@library:"})),
        turn("", write("@library:new.py", "new\n"), Call("read_file", {"path": f"@{journey.workspace.name}:gone.py"})),
        turn("done"),
        options=both(library),
    )
    read, listed, written, gone = journey.results
    assert "one" in read
    assert "lib.py" in listed
    assert (library / "new.py").read_text() == "new\n", written
    assert "gone.py does not exist" in gone
    assert not list(journey.workspace.iterdir())


PATCH = """\
*** Begin Patch
*** Update File: @library:lib.py
*** Move to: @library:moved.py
-one
+two
*** Add File: @library:new.py
+*** Add File: @library:a line of the file
*** Add File: here.py
+here
*** End Patch"""


async def test_the_paths_of_a_patch_may_begin_with_the_name_of_a_folder(journey, library):
    await journey.run(turn("", Call("apply_patch", {"input": PATCH})), turn("done"), options=both(library))
    assert (library / "moved.py").read_text() == "two\n", journey.results
    assert not (library / "lib.py").exists()
    assert (library / "new.py").read_text() == "*** Add File: @library:a line of the file\n"
    assert (journey.workspace / "here.py").read_text() == "here\n"


async def test_a_patch_leads_no_further_by_a_folders_name_than_a_path_does(journey, library, tmp_path):
    (tmp_path / "outside.txt").write_text("kept\n")
    patch = "*** Begin Patch\n*** Delete File: @library:../outside.txt\n*** End Patch"
    call = Call("apply_patch", {"input": patch})
    await journey.run(turn("", call), turn("done"), options=both(library, mode=ASKS))
    assert (tmp_path / "outside.txt").exists(), journey.results


async def test_a_folders_name_leads_no_further_than_a_path_does(journey, library, tmp_path):
    (tmp_path / "outside.txt").write_text("secret")
    (journey.workspace / ".halocline").mkdir()
    (library / ".haloclineignore").write_text("hidden.txt\n")
    (library / "hidden.txt").write_text("secret")
    calls = [Call("read_file", {"path": f"@library:{name}"}) for name in ("hidden.txt", "../outside.txt")]
    await journey.run(turn("", *calls), turn("done"), options=both(library, mode=ASKS))
    assert not any("secret" in text for text in journey.results)


async def test_a_name_that_two_folders_share_is_a_path_like_any_other(journey, library, tmp_path):
    twin = tmp_path / "other/library"
    twin.mkdir(parents=True)
    (twin / "lib.py").write_text("twin\n")
    read = turn("", Call("read_file", {"path": "@library:lib.py"}))
    await journey.run(read, turn("done"), options=both(library, twin))
    assert "does not exist" in journey.results[0]


def define(folder, name, text):
    """A skill, a command and an agent of that name, with this text."""
    (skill := folder / f".claude/skills/{name}").mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\ndescription: {text}\n---\nSkill {text}")
    for kind in ("commands", "agents"):
        (folder / ".claude" / kind).mkdir(exist_ok=True)
        (folder / f".claude/{kind}/do-{name}.md").write_text(
            f"---\nname: {name}\ndescription: {text}\n---\nDo it {text}."
        )


async def test_skills_commands_and_agents_of_every_folder_are_there_and_the_first_wins(journey, library, tmp_path):
    define(library, "release", "for the library")
    define(library, "deploy", "for the library")
    define(journey.workspace, "deploy", "for the workspace")
    (tmp_path / "outside.md").write_text("secret")
    (library / ".claude/commands/leak.md").symlink_to(tmp_path / "outside.md")
    client = journey.client([turn("", Call("use_skill", {"skill_name": "release"})), turn("done"), turn("done")])
    await journey.open(client, both(library))
    system = client.state(journey.task).prompt.system
    assert "release: for the library" in system
    assert "deploy: for the workspace" in system
    found = client.agents_of(journey.workspace, client.state(journey.task).roots)
    assert {"release": "for the library", "deploy": "for the workspace"}.items() <= {
        agent.name: agent.description for agent in found.agents
    }.items()
    await journey.prompt(client, "/do-release")
    assert "Skill for the library" in journey.results[0]
    await journey.prompt(client, "/do-deploy and /leak")
    messages = [one for one in client.state(journey.task).messages if isinstance(one, UserMessage)]
    texts = "\n".join(part.text for message in messages for part in message.content if isinstance(part, Note))
    assert "Do it for the library." in texts
    assert "Do it for the workspace." in texts
    assert "secret" not in texts
    await client.close()
