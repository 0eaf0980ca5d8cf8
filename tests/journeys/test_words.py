"""Slash commands through whole tasks: what the log holds of them, and what the model reads."""

import pytest

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Note, Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.rows.fold import rows_of

DONE = Turn(text="done")
ATTENDED = TaskOptions(approval_mode=ApprovalMode.YOLO, attended=True)
FLOW = ".clinerules/workflows/ship.md"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))


def notes(event):
    return [part for part in event.content if isinstance(part, Note) and part.source != "environment"]


async def test_a_prompt_keeps_what_was_typed_behind_what_it_became(journey):
    journey.write(FLOW, "Ship $ARGUMENTS.")
    await journey.run(Turn(text="done", expect="Ship it all."), prompt="/ship.md it all")
    (begun,) = journey.of(ev.TurnStarted)
    note, typed = begun.content[:2]
    assert (note.source, typed) == ("workflow", Text("/ship.md it all"))
    assert journey.state.title == "/ship.md it all"
    rows = rows_of(journey.logged)
    prompt, notice = rows[1:3]
    assert isinstance(prompt, r.PromptRow)
    assert (prompt.text, prompt.seq, prompt.attached[0]) == ("/ship.md it all", begun.seq, note)
    assert notice == r.NoticeRow("The workflow /ship, from .clinerules/workflows/ship.md.")


async def test_several_skills_of_one_prompt_are_read(journey):
    for name in ("one", "two"):
        journey.write(f".agents/skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: About.\n---\nUse {name}.\n")
    await journey.run(DONE, prompt="use /one and /two")
    (begun,) = journey.of(ev.TurnStarted)
    assert [note.text.splitlines()[-1] for note in notes(begun)] == ["Use one.", "Use two."]


async def test_steering_and_answers_have_words_too(journey):
    journey.write(FLOW, "Ship $ARGUMENTS.")
    asking = Call("ask_followup_question", {"question": "What now?"}, id="c1")

    def answer(event):
        if isinstance(event, ev.QuestionAsked):
            return cmd.AnswerQuestion(task=event.task, request=event.request, answer="/ship two")
        if isinstance(event, ev.TurnStarted):
            return cmd.Steer(task=event.task, content=(Text("/ship one"),))
        return None

    turns = (Turn(calls=(asking,)), Turn(text="done", expect="Ship two."), DONE)
    await journey.run(*turns, answer=answer, options=ATTENDED)
    steered = [note.text for event in journey.of(ev.SteeringReceived) for note in notes(event)]
    assert sorted(text.splitlines()[-1] for text in steered) == ["Ship one.", "Ship two."]
    assert [event.answer for event in journey.of(ev.QuestionAnswered)] == ["/ship two"]
    assert [row.text for row in rows_of(journey.logged) if isinstance(row, r.PromptRow)] == ["go", "/ship one"]


async def test_a_path_is_a_good_answer(journey):
    asking = Call("ask_followup_question", {"question": "Which route?"}, id="c1")

    def answer(event):
        if isinstance(event, ev.QuestionAsked):
            return cmd.AnswerQuestion(task=event.task, request=event.request, answer="/login")
        return None

    await journey.run(Turn(calls=(asking,)), Turn(text="done", expect="/login"), answer=answer)
    assert journey.of(ev.SteeringReceived) == []


async def test_deep_planning_may_hand_over_and_a_prompt_that_nobody_typed_is_left_alone(journey):
    client = journey.client([DONE, DONE])
    await journey.open(client, ATTENDED)
    await journey.prompt(client, "/deep-planning a new door")
    assert [event.tools for event in journey.of(ev.ToolsOffered)] == [("new_task",)]
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("/init"),), verbatim=True))
    async for event in client.events(journey.task, client.state(journey.task).seq):
        if isinstance(event, ev.TurnEnded):
            break
    await client.close()
    plan, init = [event for event in journey.logged if isinstance(event, ev.TurnStarted)]
    assert ["implementation_plan.md" in note.text for note in notes(plan)] == [True]
    assert notes(init) == []


async def test_an_unknown_word_begins_no_turn(journey):
    client = journey.client([DONE])
    await journey.open(client, ATTENDED)
    with pytest.raises(UsageError, match="There is no slash command /inti"):
        client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("/inti"),)))
    await client.close()
    assert [event for event in journey.logged if isinstance(event, ev.TurnStarted)] == []


def scripted(journey, name, text):
    path = journey.home.root.parent / f"{name}.toml"
    path.write_text(f'[[turn]]\ntext = "{text}"\n' * 2)
    return f"scripted/{path}"


async def test_another_model_answers_from_now_on(journey):
    journey.settings = Settings(checkpoints=False)
    client = Client(Controller(Assembly(journey.home, journey.settings, {})), "test")
    first, second = scripted(journey, "a", "I am a."), scripted(journey, "b", "I am b.")
    await journey.open(client, TaskOptions(model=first, attended=True))
    await journey.prompt(client)
    with pytest.raises(UsageError):
        await client.change_model(journey.task, "nobody/nothing")
    assert client.only_model(journey.task) == first
    await client.change_model(journey.task, second)
    await journey.prompt(client)
    assert journey.state.last_message.text == "I am b."
    assert journey.state.model.name == second
    await client.close()
    resumed = Client(Controller(Assembly(journey.home, journey.settings, {})), "test")
    await journey.open(resumed, resume=journey.task)
    assert resumed.only_model(journey.task) == second
    await resumed.close()


async def test_the_model_stays_while_a_turn_runs(journey):
    client = journey.client([Turn(calls=(Call("ask_followup_question", {"question": "Well?"}, id="c1"),)), DONE])
    refused = []

    async def try_it():
        with pytest.raises(UsageError) as raised:
            await client.change_model(journey.task, "scripted/x")
        refused.append(raised.value.text)

    await journey.open(client, ATTENDED)
    sent = client.state(journey.task).seq
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("go"),)))
    async for event in client.events(journey.task, sent):
        if isinstance(event, ev.QuestionAsked):
            await try_it()
            client.send(cmd.AnswerQuestion(task=event.task, request=event.request, answer="well"))
        if isinstance(event, ev.TurnEnded):
            break
    await client.close()
    assert refused == ["The model cannot be changed while a turn runs."]
