from tests.tables import for_each

from halocline.surfaces.cli.command_table import CHAT, COMMANDS
from halocline.surfaces.lazy_functions import load_function


@for_each("module", sorted({command.module for command in (CHAT, *COMMANDS.values())}))
def test_the_module_of_a_command_runs_it(module: str) -> None:
    assert callable(load_function(f"{module}:command"))
