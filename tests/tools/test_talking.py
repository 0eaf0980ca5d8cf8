from collections.abc import Sequence

from tests.tools.contexts import change_context

from halocline.ports.tool import ToolContext
from halocline.protocol.events import TodosChanged
from halocline.protocol.kinds import Todo, TodoStatus
from halocline.tools import ask_followup_question


async def test_the_result_of_a_completion_ends_the_turn(call):
    output = await call("attempt_completion", result="All done.")
    assert (output.content[0].text, output.ends_turn) == ("All done.", True)


async def test_a_question_gives_the_persons_answer(context: ToolContext):
    asked: list[tuple[str, list[str], str]] = []

    async def person(question: str, options: Sequence[str], call: str) -> str | None:
        asked.append((question, list(options), call))
        return options[1]

    output = await ask_followup_question.run(
        ask_followup_question.Input("Which?", ["a", "b"]), change_context(context, ask=person)
    )
    assert output.content[0].text == "b"
    assert asked == [("Which?", ["a", "b"], "call-1")]


async def test_a_question_nobody_can_answer_tells_the_model_to_choose(say):
    assert (await say("ask_followup_question", question="Which?")).startswith("Nobody can answer now.")


async def test_a_todo_list_becomes_an_event(call):
    output = await call("update_todos", todos=[{"text": "a", "status": "completed"}, {"text": "b"}])
    assert output.content[0].text == "1 of 2 done."
    assert output.events == (TodosChanged(todos=(Todo("a", TodoStatus.COMPLETED), Todo("b"))),)
