from pathlib import Path

import pytest
from tests.tables import for_each

from halocline.protocol.child_environment import child_environment, declare_environment, in_sandbox, withheld_names

RANDOM = "q7Xw2Lr9Tz4Vb8Nk1Mc6Hd3Js5Gf0Pa"
SECRETS = {
    "GH_TOKEN": "a-token-of-words",
    "AWS_SECRET_ACCESS_KEY": RANDOM,
    "PGPASSWORD": "hunter",
    "MYSQL_PWD": "hunter2",
    "DATABASE_URL": "postgres://me:s3cret@db.example.org/app",
    "SENTRY_DSN": "https://abcdef@o1.example.org/2",
    "NPM_CONFIG__AUTH": "bWU6czNjcmV0",
    "PLAIN": f"ghp_{'a1B2' * 9}",
    "COOKIE": "session=1",
    "X_CREDENTIALS_FILE": "/nowhere/to/be/found.json",
    "GHKEY": "x",
}
PLAIN = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/me",
    "SSH_AUTH_SOCK": "/run/user/1000/keyring/ssh",
    "LANG": "C.UTF-8",
    "EDITOR": "vim",
    "AWS_PROFILE": "dev",
    "TOKENIZERS_PARALLELISM": "false",
    "MAX_TOKENS": "4096",
    "AUTH_URL": "https://example.org/login",
    "NO_PROXY": "localhost",
    "HTTPS_PROXY": "http://proxy.example.org:3128",
    "KEYMAP": "us",
    "GIT_AUTHOR_NAME": "a",
    "LS_COLORS": "di=01;34:ln=01;36",
    "INVOCATION_ID": "0f8fad5bd9cb469fa16570867728950e",
    "WT_SESSION": "0f8fad5b-d9cb-469f-a165-70867728950e",
}


@pytest.mark.parametrize("name", SECRETS)
def test_what_looks_like_a_secret_is_withheld_and_named(name: str):
    assert child_environment({name: SECRETS[name]}) == {}
    assert withheld_names({name: SECRETS[name], "PATH": "/bin"}) == (name,)


@for_each("name", PLAIN)
def test_what_programs_need_stays(name: str):
    assert child_environment({name: PLAIN[name]}) == {name: PLAIN[name]}


def test_the_place_of_a_file_that_is_there_is_no_secret(tmp_path: Path):
    (tmp_path / "key.json").touch()
    given = {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "key.json")}
    assert child_environment(given) == given


def test_commands_do_not_get_what_makes_programs_do_something_else():
    names = ("BASH_ENV", "BASH_FUNC_ls%%", "LD_PRELOAD", "GIT_DIR", "GIT_CONFIG_COUNT", "ENV")
    given = dict.fromkeys(names, "x") | {"NODE_OPTIONS": "--require /evil.js", "PATH": "/bin"}
    assert child_environment(given, passed=("*",)) == {"PATH": "/bin"}
    assert withheld_names(given) == ()
    assert child_environment({"NODE_OPTIONS": "--max-old-space-size=4096"}) != {}


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "http_proxy", "ALL_PROXY", "npm_config_proxy"])
def test_a_proxy_loses_its_password_only(name: str):
    given = {name: "http://me:s3cr@t@proxy.example.org:3128"}
    assert child_environment(given) == {name: "http://proxy.example.org:3128"}
    assert withheld_names(given) == (name,)
    assert child_environment(given, passed=(name,)) == given


def test_what_a_person_names_is_passed_on_by_name_or_pattern():
    passed = ("GH_TOKEN", "AWS_*")
    assert set(child_environment(SECRETS, passed=passed)) == {"GH_TOKEN", "AWS_SECRET_ACCESS_KEY"}
    assert not {"GH_TOKEN", "AWS_SECRET_ACCESS_KEY"} & {*withheld_names(SECRETS, passed=passed)}


def test_a_key_of_halocline_is_passed_on_by_its_whole_name_only():
    given, hidden = {"MY_LLM": "x", "OPENAI_API_KEY": "y"}, frozenset({"MY_LLM", "OPENAI_API_KEY"})
    assert child_environment(given, hidden) == {}
    assert child_environment(given, hidden, ("*", "OPENAI_*")) == {}
    assert child_environment(given, hidden, ("OPENAI_API_KEY",)) == {"OPENAI_API_KEY": "y"}


def test_what_is_declared_for_a_process_is_taken_as_it_is():
    given = child_environment({"PATH": "/bin", "OLD": "1"})
    assert declare_environment(given, {"GH_TOKEN": "x", "OLD": None}) == {"PATH": "/bin", "GH_TOKEN": "x"}


def test_a_sandbox_reaches_no_agent_but_one_that_a_person_passes_on():
    given = child_environment({"SSH_AUTH_SOCK": "/run/agent", "AWS_PROFILE": "dev", "PATH": "/bin"})
    assert in_sandbox(given) == {"PATH": "/bin"}
    assert in_sandbox(given, ("AWS_*",)) == {"PATH": "/bin", "AWS_PROFILE": "dev"}
