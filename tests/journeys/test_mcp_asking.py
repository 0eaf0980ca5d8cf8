"""Servers that want something: of the person (elicitation), or of the task's model (sampling)."""

import asyncio
import json

import pytest
from tests.journeys.test_mcp import DONE, echo, servers as servers
from tests.journeys.test_mcp_reference import PATIENT, calls, servers as reference

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.providers.scripted.model import SUMMARY
from halocline.runtime.controller import TaskOptions
from halocline.store.settings.sections import McpSettings
from halocline.surfaces.costs import turns_of
from halocline.task.mcp_sampling import ALWAYS, NO, ONCE

reference = reference
THERE = TaskOptions(approval_mode=ApprovalMode.YOLO, attended=True)


def saying(*answers, asked=None):
    """Answers questions, one after the other; the last answer is for all that come."""
    left = list(answers)

    def answer(event):
        if isinstance(event, ev.QuestionAsked):
            if asked is not None:
                asked.append(event)
            said = left.pop(0) if len(left) > 1 else left[0]
            return cmd.AnswerQuestion(task=event.task, request=event.request, answer=said)
        return None

    return answer


async def test_a_server_has_the_model_answer_once_a_person_has_seen_what_it_asks(journey, servers):
    servers(test="samples")
    asked = []
    await journey.run(echo("Sum up."), DONE, options=THERE, answer=saying(ONCE, asked=asked))
    result = json.loads(journey.results[0])["result"]
    assert (result["content"]["text"], result["role"], result["stopReason"]) == (SUMMARY, "assistant", "endTurn")
    for said in ("server test wants to use", "up to 50 output tokens", "System prompt: Be short.", "Prompt: Sum up."):
        assert said in asked[0].question


async def test_what_a_server_had_answered_counts_as_the_tasks_and_is_no_measure_of_its_conversation(journey, servers):
    servers(test="samples")
    await journey.run(echo("Sum up."), DONE, options=THERE, answer=saying(ONCE))
    (sampled,) = journey.of(ev.McpSampled)
    steps = sum((event.usage.total for event in journey.of(ev.UsageReported)), 0)
    assert sampled.usage.total > 0
    assert journey.state.budget.usage.total == steps + sampled.usage.total
    assert journey.state.budget.last_usage == journey.of(ev.UsageReported)[-1].usage
    assert (
        sum(step.usage.total for turn in turns_of(journey.logged) for step in turn.steps)
        == journey.state.budget.usage.total
    )


@pytest.mark.parametrize(
    ("answer", "questions", "said"),
    [(ALWAYS, 1, SUMMARY), (ONCE, 2, SUMMARY), (NO, 2, "The user declined this sampling request.")],
)
async def test_leave_is_for_once_or_for_the_task(journey, servers, answer, questions, said):
    servers(test="samples twice")
    asked = []
    await journey.run(echo(), DONE, options=THERE, answer=saying(answer, asked=asked))
    assert len(asked) == questions
    assert said in journey.results[0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "Sampling needs the user's approval, and nobody can give it now."),
        ({"sampling": "allow"}, SUMMARY),
        ({"sampling": "off"}, "not supported"),
    ],
)
async def test_without_a_person_no_server_asks_the_model_unless_the_settings_say_so(journey, servers, settings, said):
    servers(test="samples")
    await journey.run(echo(), DONE, mcp=McpSettings(wait=20.0, **settings))
    assert said.lower() in journey.results[0].lower()
    assert bool(journey.of(ev.McpSampled)) == (said == SUMMARY)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sampling_requests": 1}, "limit of 1 sampling requests"),
        ({"sampling_tokens": 20}, "sampling limit of 20 tokens"),
    ],
)
async def test_a_budget_of_requests_and_tokens_is_kept(journey, servers, settings, said):
    servers(test="samples twice")
    await journey.run(echo(), DONE, mcp=McpSettings(wait=20.0, sampling="allow", **settings))
    assert said in journey.results[0]


async def test_a_question_that_a_server_takes_back_is_not_asked_any_more(journey, servers):
    servers(test="retracts")
    await journey.run(echo(), DONE, options=THERE)
    assert [event.by for event in journey.of(ev.QuestionAnswered)] == ["withdrawn"]
    assert journey.results == ["never mind"]


async def test_a_page_that_the_server_saw_done_needs_no_answer_any_more(journey, servers):
    servers(test="page opened")
    await journey.run(echo(), DONE, options=THERE)
    assert [event.by for event in journey.of(ev.QuestionAnswered)] == ["withdrawn"]
    assert json.loads(journey.results[0]) == {"action": "accept"}


async def test_a_page_of_which_the_server_says_no_more_is_the_persons_to_answer(journey, servers):
    servers(test="page")
    await journey.run(echo(), DONE, options=THERE, answer=saying("Decline"))
    assert json.loads(journey.results[0]) == {"action": "decline"}


async def test_a_person_may_think_longer_than_a_call_may_take(journey, servers):
    servers(test=("asks", {"timeout": 1}))
    client = journey.client([echo(), DONE])
    await journey.open(client, THERE)
    running = asyncio.create_task(journey.prompt(client))
    async with asyncio.timeout(10):
        while not client.state(journey.task).pending.questions:
            await asyncio.sleep(0.05)
    await asyncio.sleep(1.5)
    (question,) = client.state(journey.task).pending.questions
    client.send(cmd.AnswerQuestion(task=journey.task, request=question.request, answer="blue"))
    await running
    await client.close()
    assert json.loads(journey.results[0]) == {"action": "accept", "content": {"colour": "blue"}}


async def test_an_interrupt_while_a_server_asks_ends_the_question_with_the_call(journey, servers):
    servers(test="asks")
    client = journey.client([echo(), DONE])
    await journey.open(client, THERE)

    def interrupting(event):
        return cmd.Interrupt(task=journey.task) if isinstance(event, ev.QuestionAsked) else None

    await journey.prompt(client, answer=interrupting)
    await client.close()
    assert [event.by for event in journey.of(ev.QuestionAnswered)] == ["interrupt"]
    assert journey.ends == [("c1", "cancelled")]


async def test_a_form_that_nobody_here_wrote_is_filled_in_with_what_fits(journey, reference):
    reference(all=("mcp-server-everything",))
    given = {
        "Boolean": "yes", "first line": "It was.", "email format": ["nonsense", "ada@example.org"],
        "uri format": "Skip", "date format": "1815-12-10", "Integer": ["101", "42"], "Number": "3.5",
        "Untitled Single": "Ross", "Legacy Titled": "Cats",
        "Untitled Multiple": "Piano, Drums", "Titled Single": "Wonder Woman",
        "Your answer to the server": "Send", "String": "Ada",
    }  # fmt: skip
    asked = []

    def answer(event):
        if not isinstance(event, ev.QuestionAsked):
            return None
        asked.append(event.question)
        line = event.question.split("\n\n")[1]
        found = next((each for key, each in given.items() if key in line.split(":")[0]), "Skip")
        said = found.pop(0) if isinstance(found, list) else found
        return cmd.AnswerQuestion(task=event.task, request=event.request, answer=said)

    turn = calls("all__trigger-elicitation-request")
    await journey.run(turn, DONE, mcp=PATIENT, options=THERE, answer=answer)
    assert "'101' is not valid: it must be at most 100." in "\n".join(asked)
    assert "'nonsense' is not valid: it must be an email address." in "\n".join(asked)
    result = "".join(part.text for part in journey.of(ev.ToolCallEnded)[0].result.content)
    for said in ('"integer": 42', '"hero-3"', '"Piano"', "ada@example.org", '"check": true'):
        assert said in result, result


@pytest.mark.parametrize("error_path", [True, False])
async def test_a_page_that_is_wanted_is_shown_with_its_host_and_opened_by_the_person(journey, reference, error_path):
    reference(all=("mcp-server-everything",))
    asked = []
    turn = calls("all__trigger-url-elicitation", url="https://sign-in.example/go", errorPath=error_path)
    await journey.run(turn, DONE, mcp=PATIENT, options=THERE, answer=saying("Done", asked=asked))
    pages = [event.question for event in asked]
    assert "open this page at sign-in.example:\n\nhttps://sign-in.example/go" in pages[-1]
    assert len(pages) == 1 + error_path
    assert journey.ends == [("c1", "completed")]


async def test_a_server_that_nobody_here_wrote_has_the_model_answer(journey, reference):
    reference(all=("mcp-server-everything",))
    turn = calls("all__trigger-sampling-request", prompt="Say a word.", maxTokens=40)
    await journey.run(turn, DONE, mcp=PATIENT, options=THERE, answer=saying(ONCE))
    assert SUMMARY in journey.results[0]


async def test_a_task_of_a_server_asks_the_person_and_goes_on_with_the_answer(journey, reference):
    reference(all=("mcp-server-everything",))
    asked = []
    turn = calls("all__simulate-research-query", topic="tides", ambiguous=True)
    await journey.run(turn, DONE, mcp=PATIENT, options=THERE, answer=saying("technical", asked=asked))
    assert "tides" in asked[0].question
    assert "Research Report" in journey.results[0]
