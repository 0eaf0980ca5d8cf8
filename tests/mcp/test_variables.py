from pathlib import Path

import pytest

from halocline.mcp.variables import Missing, fill_variables, server_environment
from halocline.ports.mcp_servers import Server, ServerEntry, ServerOwner
from halocline.protocol.secrets.secret import Secret

ENV = {"TOKEN": "abc", "EMPTY": "", "MODEL_KEY": "sk"}


def server(owner=ServerOwner.USER, **entry) -> Server:
    return Server("s", Path("mcp.json"), owner, ServerEntry(**entry))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("${TOKEN}", "abc"),
        ("${env:TOKEN}", "abc"),
        ("a-${TOKEN}-${TOKEN}", "a-abc-abc"),
        ("${NONE:-other}", "other"),
        ("${EMPTY:-other}", "other"),
        ("${EMPTY}", ""),
        ("${NONE:-}", ""),
        ("$TOKEN {TOKEN} ${}", "$TOKEN {TOKEN} ${}"),
    ],
)
def test_variables_are_filled_in(written, value):
    assert fill_variables(server(command=written), ENV, frozenset()).command == value


def test_a_missing_variable_is_named_with_its_place():
    with pytest.raises(Missing, match=r"env.KEY of the MCP server s needs the variable NONE"):
        fill_variables(server(command="x", env={"KEY": Secret("${NONE}")}), ENV, frozenset())


def test_a_projects_file_does_not_get_the_keys_of_models():
    wanted = server(ServerOwner.PROJECT, url="https://x/${MODEL_KEY}")
    with pytest.raises(Missing, match="A project's file may not use keys"):
        fill_variables(wanted, ENV, frozenset({"MODEL_KEY"}))


def test_a_person_may_give_their_own_server_any_variable():
    assert fill_variables(server(url="https://x/${MODEL_KEY}"), ENV, frozenset({"MODEL_KEY"})).url == "https://x/sk"


def test_a_process_gets_what_it_declares_and_the_few_that_every_one_needs():
    given = server_environment({"A": Secret("1")}, {"PATH": "/bin", "https_proxy": "p", "OPENAI_API_KEY": "sk"})
    assert given == {"PATH": "/bin", "https_proxy": "p", "A": "1"}
