import pytest

from halocline.context.notes.withheld_variables import withheld_note

WITHHELD = ("AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "GH_TOKEN", "HTTPS_PROXY", "NPM_TOKEN", "TF_VAR_password")


@pytest.mark.parametrize(
    ("command", "output", "name"),
    [
        ("gh pr list", "To get started with GitHub CLI, please run:  gh auth login", "GH_TOKEN"),
        ("cd x && aws s3 ls", "Unable to locate credentials", "AWS_SECRET_ACCESS_KEY"),
        ("npm publish", "npm error code ENEEDAUTH", "NPM_TOKEN"),
        ("terraform plan", "Error: No valid credential sources found", "AWS_SECRET_ACCESS_KEY"),
        ("psql -c 'select 1'", "fe_sendauth: no password supplied", "DATABASE_URL"),
        ("./deploy.sh", "GH_TOKEN: unbound variable", "GH_TOKEN"),
        ("pip install x", "ProxyError: 407 Proxy Authentication Required", "HTTPS_PROXY"),
    ],
)
def test_a_failed_command_is_told_what_was_withheld_and_how_it_is_passed_on(command: str, output: str, name: str):
    said = withheld_note(command, output, 1, WITHHELD)
    assert name in said
    assert f'"{name}"' in said.partition("pass_environment = [")[2]


def test_a_command_that_names_the_variable_is_told_however_it_ends():
    assert "GH_TOKEN" in withheld_note('curl -H "Authorization: Bearer $GH_TOKEN" x', "", 0, WITHHELD)


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("gh pr list", "no pull requests", 0),
        ("pytest", "1 failed: permission denied", 1),
        ("npm test", "SyntaxError: Unexpected token", 1),
        ("echo $MY_GH_TOKEN_2", "", 0),
    ],
)
def test_nothing_is_said_where_nothing_suggests_it(command: str, output: str, code: int):
    assert withheld_note(command, output, code, WITHHELD) == ""


def test_many_names_are_cut_short():
    said = withheld_note("aws s3 ls", "403 Forbidden", 1, [f"AWS_{number}_KEY" for number in range(9)])
    assert "and 4 more" in said
