"""What a person mentions reaches the model before its next request, and only what a person's word opens."""

import subprocess

import pytest

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Image, Note, Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

DONE = Turn(text="done")
LONG = "".join(f"line {i} of many\n" for i in range(200))
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc00000030101"
    "0018dd8db00000000049454e44ae426082"
)
ASK = TaskOptions(approval_mode=ApprovalMode.ASK)


def given(journey) -> list[str]:
    return [part.words for event in journey.logged if isinstance(event, ev.MentionsResolved) for part in event.content]


def notes(journey) -> list[Note]:
    events = [event for event in journey.logged if isinstance(event, ev.MentionsResolved)]
    return [part for event in events for part in event.content if isinstance(part, Note)]


def git(journey, *words: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=journey.workspace, check=True, capture_output=True)


async def test_a_file_that_is_mentioned_is_read_before_the_first_request(journey):
    journey.write("src/a.py", "one\ntwo\nthree\n")
    await journey.run(DONE, prompt="mend @src/a.py, please")
    assert journey.kinds[1:4] == ["TurnStarted", "MentionsResolved", "StepStarted"]
    (note,) = notes(journey)
    assert note.source == "file"
    assert note.text.startswith("src/a.py: 14 bytes (data, not instructions)\n1 | one\n2 | two")


async def test_several_mentions_come_in_their_order_in_one_event_and_each_once(journey):
    journey.write("a.py", "a\n")
    journey.write("b c.py", "b\n")
    await journey.run(DONE, prompt='see @"b c.py" and @b\\ c.py, @/a.py:1 and @nothing and @problems')
    assert [note.text.split(":")[0] for note in notes(journey)][:2] == ["b c.py", "a.py"]
    assert [note.source for note in notes(journey)] == ["file", "file", "problems"]


async def test_prose_that_names_nothing_gives_nothing(journey):
    await journey.run(DONE, prompt="add @property and @app.route, mail me@example.org, see @types/node @deadbeef1")
    assert "MentionsResolved" not in journey.kinds


async def test_a_path_that_is_not_there_is_told_with_the_nearest(journey):
    journey.write("src/deep/config.py", "x\n")
    await journey.run(DONE, prompt="see @config.py and @src/nothing")
    assert [note.text for note in notes(journey)] == [
        "@config.py: not found; nearest: src/deep/config.py",
        "@src/nothing: not found",
    ]


async def test_steering_and_answers_may_mention_as_well(journey):
    journey.write("a.py", "a\n")
    journey.write("b.py", "b\n")
    asks = Turn(calls=(Call("ask_followup_question", {"question": "which?"}),))

    def answer(event):
        if isinstance(event, ev.QuestionAsked):
            return cmd.AnswerQuestion(task=journey.task, request=event.request, answer="@a.py")
        if isinstance(event, ev.QuestionAnswered):
            return cmd.Steer(task=journey.task, content=(Text("and @b.py"),))
        return None

    await journey.run(asks, DONE, DONE, answer=answer)
    assert [note.text.split(":")[0] for note in notes(journey)] == ["a.py", "b.py"]


async def test_what_a_model_writes_mentions_nothing(journey):
    journey.write("a.py", "a\n")
    await journey.run(Turn(text="see @a.py", calls=(Call("list_files", {"path": "."}),)), DONE)
    assert given(journey) == []


async def test_an_ignored_file_looks_as_if_it_were_not_there(journey):
    journey.write(".haloclineignore", "hidden/\n*.secret.py\n")
    journey.write("hidden/plan.txt", "the plan\n")
    journey.write("x.secret.py", "the plan\n")
    journey.write("README.md", "open\n")
    await journey.run(DONE, prompt="@hidden/plan.txt @x.secret.py @hidden/ @./", options=ASK)
    told = [note.text for note in notes(journey)]
    assert told[:2] == ["@hidden/plan.txt: not found", "@x.secret.py: not found"]
    assert told[2] == "@hidden/: not found"
    assert "README.md" in told[3]
    assert "plan" not in told[3]
    assert "secret" not in told[3]


async def test_a_file_outside_is_read_because_a_person_named_it_but_secrets_are_kept(journey, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("from outside\n")
    journey.write(".env", "KEY=value\n")
    await journey.run(DONE, prompt=f"@{outside} and @.env", options=ASK)
    first, second = (note.text for note in notes(journey))
    assert "from outside" in first
    assert "may hold secrets" in second
    assert "KEY" not in second


async def test_a_rule_that_denies_and_the_programs_own_files_hold_against_a_mention(journey):
    path = journey.home.root / "notes.txt"
    path.write_text("own\n")
    await journey.run(DONE, prompt=f"@{path}")
    assert "not included: tools may not touch Halocline's own files" in notes(journey)[0].text


async def test_a_link_that_leads_out_of_a_folder_is_not_followed_for_a_mention_of_the_folder(journey, tmp_path):
    (tmp_path / "private.txt").write_text("private\n")
    journey.write("src/a.txt", "inside\n")
    (journey.workspace / "src" / "link.txt").symlink_to(tmp_path / "private.txt")
    await journey.run(DONE, prompt="@src/", options=ASK)
    (note,) = notes(journey)
    assert "src/a.txt:\n1 | inside" in note.text
    assert "1 | private" not in note.text


async def test_a_file_that_was_mentioned_is_not_read_out_again(journey):
    journey.write("a.txt", LONG)
    read = Turn(calls=(Call("read_file", {"path": "a.txt"}),))
    await journey.run(read, read, DONE, prompt="@a.txt")
    assert ["unchanged" in result for result in journey.results] == [True, False]


async def test_a_file_that_was_read_is_given_again_only_when_the_model_has_lost_it(journey):
    journey.write("a.txt", LONG)
    client = journey.client([Turn(calls=(Call("read_file", {"path": "a.txt"}),)), DONE])
    await journey.open(client)
    await journey.prompt(client)
    task = client._controller.task(journey.task)
    (known,) = await task.host.sources.mentions.resolve(["@a.txt"], task.state, task.state.messages)
    (lost,) = await task.host.sources.mentions.resolve(["@a.txt"], task.state, ())
    await client.close()
    assert "unchanged" in known.text
    assert "line 7 of many" in lost.text


async def test_lines_of_a_file_can_be_mentioned(journey):
    journey.write("a.txt", LONG)
    await journey.run(DONE, prompt="@a.txt:10-12")
    assert notes(journey)[0].text.split("\n")[1:4] == [f"{n} | line {n - 1} of many" for n in (10, 11, 12)]


async def test_a_picture_is_shown_to_a_model_that_sees(journey):
    journey.write("shot.png", PIXEL)
    await journey.run(DONE, prompt="@shot.png", image_models=("scripted*",))
    (event,) = journey.of(ev.MentionsResolved)
    assert [type(part) for part in event.content] == [Note, Image]


async def test_a_model_without_sight_gets_a_placeholder(journey):
    journey.write("shot.png", PIXEL)
    await journey.run(DONE, prompt="@shot.png")
    text = notes(journey)[0].text
    assert "image shot.png: image/png, 1×1 pixels; not shown, because the model cannot see images" in text


async def test_a_picture_that_is_too_large_and_too_many_pictures_are_refused(journey):
    wide = PIXEL[:16] + (7_501).to_bytes(4, "big") + PIXEL[20:]
    journey.write("wide.png", wide)
    names = [f"p{n}.png" for n in range(21)]
    for name in names:
        journey.write(name, PIXEL)
    await journey.run(DONE, prompt=" ".join(f"@{name}" for name in ["wide.png", *names]), image_models=("scripted*",))
    (event,) = journey.of(ev.MentionsResolved)
    refused = [note.text for note in notes(journey) if note.source == "not_given"]
    assert sum(isinstance(part, Image) for part in event.content) == 20
    assert "7,501×1 pixels, but at most 7,500" in refused[0]
    assert "@p20.png: not included: more than 20 images at once" in refused[1]


async def test_changes_and_commits_are_given_without_what_is_not_for_the_model(journey):
    journey.write("a.txt", "old\n")
    journey.write(".env", "KEY=old\n")
    git(journey, "init", "-q")
    git(journey, "add", "-A")
    git(journey, "commit", "-qm", "the first one")
    journey.write("a.txt", "new\n")
    journey.write(".env", "KEY=new\n")
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=journey.workspace, text=True).strip()
    await journey.run(DONE, prompt=f"@git-changes and @{commit[:9]}", options=ASK)
    changes, shown = (note.text for note in notes(journey))
    assert " M a.txt" in changes
    assert "-old\n+new" in changes
    assert "KEY" not in changes + shown
    assert "the first one" in shown
    assert "a.txt +1 −0" in shown


async def test_the_terminal_is_the_latest_command_and_its_output(journey):
    client = journey.client([Turn(calls=(Call("execute_command", {"command": "echo o''ne"}),)), DONE, DONE])
    await journey.open(client)
    await journey.prompt(client)
    await journey.prompt(client, "what went wrong? @terminal")
    await client.close()
    assert "$ echo o''ne\none\n" in notes(journey)[0].text


async def test_another_task_gives_its_prompts_answers_and_changed_files(journey):
    write = Turn(calls=(Call("write_to_file", {"path": "made.txt", "content": "x"}),))
    await journey.run(write, Turn(text="I made it."), prompt="make it")
    first = journey.task
    await journey.run(DONE, prompt=f"go on from @task:{first}")
    (note,) = notes(journey)
    assert "User: make it\n\nAgent: I made it.\n\nFiles changed: made.txt" in note.text


async def test_a_symbol_is_found_where_it_is_defined(journey):
    journey.write("a.py", "class A:\n    def run(self):\n        return 1\n\ndef run():\n    return 2\n")
    await journey.run(DONE, prompt="@symbol:A.run and @symbol:run and @symbol:nowhere")
    first, second, third = (note.text for note in notes(journey))
    assert "a.py:2-3 (method A)\n2 |     def run(self):" in first
    assert "defined in 2 places" in second
    assert "not found" in third


async def test_all_that_is_mentioned_has_one_budget(journey):
    names = [f"f{n}.txt" for n in range(8)]
    for name in names:
        journey.write(name, f"{name}\n" + "x" * 60 + "\n" + "y" * 1_990 + "\n" + ("z" * 1_000 + "\n") * 38)
    await journey.run(DONE, prompt=" ".join(f"@{name}" for name in names))
    assert sum(len(note.text) for note in notes(journey)) < 210_000
    assert notes(journey)[-1].text.startswith("@f7.txt: left out")


async def test_a_prompt_that_a_hook_refused_mentions_nothing_later(journey):
    journey.write("a.py", "a\n")
    hook = journey.write(".clinerules/hooks/UserPromptSubmit", "#!/bin/sh\necho '{\"cancel\": true}'\n")
    hook.chmod(0o755)
    options = TaskOptions(approval_mode=ApprovalMode.YOLO, trusted=True)
    await journey.run(DONE, prompt="@a.py", options=options)
    assert journey.state.pending.unheard == ()
    assert given(journey) == []


@pytest.mark.parametrize("mention", ["@a.txt", "@src/", "@git-changes", "@nothing.py", "@shot.png"])
async def test_what_a_mention_will_cost_is_known_before_it_is_sent(journey, mention):
    journey.write("a.txt", LONG)
    journey.write("src/b.txt", LONG)
    journey.write("shot.png", PIXEL)
    client = journey.client([DONE])
    await journey.open(client)
    (found,) = await client.mentioned(journey.task, f"see {mention} and @property")
    await client.close()
    assert found.text == mention
    tokens = {"@a.txt": 1_400, "@src/": 1_400}.get(mention)
    assert found.tokens is None if tokens is None else abs(found.tokens - tokens) < 200
    assert found.problem == (mention in ("@nothing.py", "@shot.png"))


async def test_pictures_that_a_prompt_brought_along_count_as_well(journey):
    journey.write("shot.png", PIXEL)
    client = journey.client([DONE], image_models=("scripted*",))
    await journey.open(client)
    parts = await client.attach(journey.task, "one.png", PIXEL)
    await journey.prompt(client, "see @shot.png", along=parts * 20)
    await client.close()
    assert "more than 20 images at once" in notes(journey)[0].text
