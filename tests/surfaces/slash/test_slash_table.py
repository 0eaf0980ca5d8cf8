import inspect
from importlib import import_module
from pkgutil import iter_modules

from tests.tables import for_each

from halocline.context.notes.tool_requests import prompt_request
from halocline.runtime.prompts.slash_commands import ROWS, By, SlashCommand
from halocline.surfaces import slash
from halocline.surfaces.lazy_functions import SLASH_ANSWERS, load_function
from halocline.tools.toolset import every_tool

ANSWER, COMPLETIONS = ["context", "rest"], ["client", "task", "given"]
"""The parameters of an answer and of completions: they tell them from helpers, whatever their names."""
HERE = [row for row in ROWS if not row.is_for_the_model]


def list_functions(parameters: list[str]) -> list[str]:
    return [
        f"{found.name}:{name}"
        for found in iter_modules(slash.__path__)
        for name, function in inspect.getmembers(
            import_module(f"{SLASH_ANSWERS}.{found.name}"), inspect.iscoroutinefunction
        )
        if function.__module__ == f"{SLASH_ANSWERS}.{found.name}"
        and list(inspect.signature(function).parameters) == parameters
    ]


@for_each("row", ROWS)
def test_a_row_says_who_answers_it_and_by_what(row: SlashCommand) -> None:
    assert bool(row.answer) is (row.by in (By.SURFACE, By.CONTROLLER))
    assert bool(row.prompt) is (row.by is By.PROMPT)
    assert row.tool in {"", *(tool.name for tool in every_tool())}
    assert row.tool or row.by is not By.TOOL
    assert not row.prompt or prompt_request(row.prompt).text
    assert row.answer or not (row.completions or row.once or row.elsewhere)


@for_each("row", HERE)
def test_the_functions_of_a_row_take_what_they_are_given(row: SlashCommand) -> None:
    assert list(inspect.signature(load_function(row.answer, SLASH_ANSWERS)).parameters) == ANSWER
    if row.completions:
        assert list(inspect.signature(load_function(row.completions, SLASH_ANSWERS)).parameters) == COMPLETIONS


def test_each_answer_and_each_completion_is_of_one_row() -> None:
    assert sorted(row.answer for row in HERE) == sorted(list_functions(ANSWER))
    assert sorted(row.completions for row in HERE if row.completions) == sorted(list_functions(COMPLETIONS))
