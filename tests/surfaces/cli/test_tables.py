import pytest

from halocline.surfaces.cli.command_table import CHAT, COMMANDS
from halocline.surfaces.lazy_functions import SLASH_ANSWERS, load_function
from halocline.surfaces.slash.handlers import HANDLERS


@pytest.mark.parametrize("module", sorted({command.module for command in (CHAT, *COMMANDS.values())}))
def test_the_module_of_a_command_runs_it(module: str) -> None:
    assert callable(load_function(f"{module}:command"))


@pytest.mark.parametrize("name", HANDLERS)
def test_the_functions_of_a_slash_command_exist(name: str) -> None:
    handler = HANDLERS[name]
    for function in filter(None, (handler.answer, handler.completions)):
        assert callable(load_function(function, SLASH_ANSWERS))
