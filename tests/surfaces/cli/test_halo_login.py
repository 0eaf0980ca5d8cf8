"""Keys by way of the command line: stored, listed, used, forgotten, and never seen."""

import re

import pexpect
import pytest
from tests.net.raw_server import serving
from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import Done, Halo
from tests.tools.test_web_search import Server

KEY = "sk-1234567890abcdef1234"
OTHER = "sk-zyxwvutsrqponmlk9876"


async def login(halo: Halo, *words: str, key: str = KEY, **more: str) -> Done:
    return await halo.run("login", *words, stdin=key.encode(), env=more)


async def test_a_key_from_a_pipe_is_tried_stored_and_used_without_a_variable(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello.")], key=KEY) as server:
        place = ("--base-url", server.url("openai"))
        done = await login(halo, "openai", *place, key=f"  {KEY}\n")
        assert (done.code, done.err) == (0, "")
        assert "To undo: halo logout openai" in done.out
        assert "…1234" in done.out
        assert KEY not in done.out
        asked = await halo.run("-p", "-m", "openai/x", *place, "hi")
    assert (asked.code, asked.out) == (0, "Hello.\n")
    assert KEY in (halo.home / "credentials").read_text()


async def test_a_key_that_the_server_refuses_is_not_stored(halo: Halo) -> None:
    async with ModelServer(key=OTHER) as server:
        done = await login(halo, "anthropic", "--base-url", server.url("anthropic"))
    assert (done.code, done.out) == (1, "")
    assert "Anthropic did not accept the key" in done.err
    assert "Nothing was stored" in done.err
    assert KEY not in done.err
    assert not (halo.home / "credentials").exists()


async def test_a_key_can_be_stored_untried_when_the_server_is_out_of_reach(halo: Halo, unused_tcp_port: int) -> None:
    place = ("--base-url", f"http://127.0.0.1:{unused_tcp_port}/v1")
    done = await login(halo, "openai", *place)
    assert done.code == 1
    assert "--no-test" in done.err
    assert (await login(halo, "openai", *place, "--no-test")).code == 0


@pytest.mark.parametrize(
    ("words", "key", "said"),
    [
        (["nobody"], KEY, "There is no provider 'nobody'."),
        (["ollama"], KEY, "Ollama needs no key."),
        ([], KEY, "No provider was named."),
        (["openai"], "", "No key on standard input."),
        (["openai"], "sk-ant-1234567890abcdef", "That looks like a key for Anthropic."),
        (["openai", "--base-url", "nowhere"], KEY, "The base URL 'nowhere' is not an http or https address."),
        (["groq", "--no-browser"], KEY, "Groq has no browser sign-in."),
    ],
)
async def test_what_cannot_be_stored_is_a_wrong_call(halo: Halo, words: list[str], key: str, said: str) -> None:
    done = await login(halo, *words, key=key)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "1234567890" not in done.err
    assert not (halo.home / "credentials").exists()


async def test_a_variable_wins_over_a_stored_key_and_a_flag_over_both(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello.")] * 3) as server:
        place = ("--base-url", server.url("openai"))
        await login(halo, "openai", *place, "--no-test")
        ask = ("-p", "-m", "openai/x", *place, "hi")
        await halo.run(*ask)
        await halo.run(*ask, env={"OPENAI_API_KEY": OTHER})
        await halo.run(*ask, "--api-key", "sk-flag", env={"OPENAI_API_KEY": OTHER})
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == [f"Bearer {KEY}", f"Bearer {OTHER}", "Bearer sk-flag"]


async def test_a_stored_key_goes_to_no_other_server(halo: Halo) -> None:
    await login(halo, "openai", "--no-test")
    async with ModelServer([Turn(text="Hello.")]) as server:
        done = await halo.run("-p", "-m", "openai/x", "--base-url", server.url("openai"), "hi")
    assert done.code == 0
    assert "authorization" not in server.requests[0].headers


async def test_the_provider_of_a_stored_key_is_taken_when_no_model_is_named(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello.")]) as server:
        place = {"GOOGLE_GEMINI_BASE_URL": server.url("gemini")}
        await login(halo, "gemini", "--no-test", key="AQ.1234567890abcdef", **place)
        done = await halo.run("-p", "hi", env=place)
    assert (done.code, done.out) == (0, "Hello.\n")
    assert server.requests[0].headers["x-goog-api-key"] == "AQ.1234567890abcdef"


async def test_without_any_key_there_are_two_ways_to_give_one(halo: Halo) -> None:
    done = await halo.run("-p", "-m", "openai/x", "hi")
    assert done.code == 2
    assert "export OPENAI_API_KEY=…" in done.err
    assert "halo login openai" in done.err


async def test_a_server_without_a_usual_address_is_ready_after_its_login(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello.")], key=KEY, models=("tiny",)) as server:
        place = server.url("openai").removeprefix("http://").removesuffix("/v1")
        done = await login(halo, "openai-compatible", "--base-url", place)
        assert (done.code, done.err) == (0, "")
        assert done.out.splitlines()[-2:] == ["New tasks use openai-compatible/tiny.", "To begin, type: halo"]
        assert (await halo.run("-p", "hi")).out == "Hello.\n"
        assert "openai-compatible/tiny" in (await halo.run("models")).out
        assert "a new task uses openai-compatible/tiny" in (await halo.run("doctor")).out


async def test_without_its_address_such_a_login_says_how_to_give_one(halo: Halo) -> None:
    done = await login(halo, "openai-compatible")
    assert (done.code, done.out) == (2, "")
    assert "halo login openai-compatible --base-url URL" in done.err


async def test_a_server_with_several_models_and_no_key_names_them(halo: Halo) -> None:
    async with ModelServer(models=("tiny-1", "tiny-2")) as server:
        done = await login(halo, "openai-compatible", "--base-url", server.url("openai"), key="")
    assert (done.code, done.err) == (0, "")
    assert "It has tiny-2, tiny-1. To use one: halo -m openai-compatible/tiny-2" in done.out


async def test_where_keys_are_from_is_listed_and_no_key_shown(halo: Halo) -> None:
    await login(halo, "openai", "--no-test")
    await login(halo, "openai", "--no-test", "--base-url", "http://127.0.0.1:8000/v1")
    env = {"OPENAI_API_KEY": OTHER, "GROQ_API_KEY": "short"}
    listed = await halo.run("login", "--list", env=env)
    assert [line.split() for line in listed.out.splitlines()] == [
        ["openai", "OPENAI_API_KEY", "…9876"],
        ["stored", "in", "a", "file,", "but", "overridden", "by", "the", "variable"],
        ["stored", "for", "http://127.0.0.1:8000"],
        ["groq", "GROQ_API_KEY", "…"],
    ]
    doctor = await halo.run("doctor", env=env)
    assert "OPENAI_API_KEY (…9876), GROQ_API_KEY (…), openai (stored …9876)" not in doctor.out
    assert "OPENAI_API_KEY (…9876)" in doctor.out
    models = await halo.run("models", "openai")
    assert "openai: key from halo login openai" in models.out
    shown = listed.out + doctor.out + models.out
    assert not any(key in shown for key in (KEY, OTHER, "short"))


async def test_a_key_is_forgotten_and_what_is_left_is_said(halo: Halo) -> None:
    await login(halo, "openai", "--no-test")
    await login(halo, "openai", "--no-test", "--base-url", "http://127.0.0.1:8000/v1")
    await login(halo, "groq", "--no-test", key=f"gsk_{KEY}")
    done = await halo.run("logout", "openai", env={"OPENAI_API_KEY": OTHER})
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "Removed the key for OpenAI.",
        "Removed the key for OpenAI at http://127.0.0.1:8000.",
        "The environment variable OPENAI_API_KEY still has a key: unset OPENAI_API_KEY",
    ]
    assert (await halo.run("logout", "--all")).out == "Removed the key for Groq.\n"
    assert not (halo.home / "credentials").exists()
    assert (await halo.run("logout", "openai")).out == "No key was stored.\n"


@pytest.mark.parametrize("words", [[], ["openai", "--all"]])
async def test_whose_keys_are_forgotten_must_be_said(halo: Halo, words: list[str]) -> None:
    done = await halo.run("logout", *words)
    assert (done.code, done.out) == (2, "")
    assert "--all" in done.err


async def test_a_file_that_others_can_read_stops_a_run_that_needs_it_and_no_other(halo: Halo) -> None:
    await login(halo, "openai", "--no-test")
    (halo.home / "credentials").chmod(0o644)
    done = await halo.run("-p", "-m", "openai/x", "hi")
    assert (done.code, halo.tasks) == (1, [])
    assert "Other users can access" in done.err
    assert "chmod 600" in done.err
    assert KEY not in done.err
    assert (await halo.run("-p", "-m", halo.script({"text": "Hello."}), "hi")).code == 0
    doctor = await halo.run("doctor")
    assert doctor.code == 1
    assert "chmod 600" in doctor.out


async def test_the_doctor_goes_the_way_to_the_model(halo: Halo) -> None:
    async with ModelServer(key=KEY, models=["big-1"]) as server:
        place = ("--base-url", server.url("openai"))
        await login(halo, "openai", *place)
        good = await halo.run("doctor", "--connect", "-m", "openai/big-1", *place)
        wrong = await halo.run("doctor", "-m", "openai/big-2", *place)
        refused = await halo.run("doctor", "--connect", "-m", "openai/big-1", *place, "--api-key", OTHER)
    assert good.code == 0
    assert re.search(r"✓ connection +openai/big-1: .+ answers, .+ the key \(.+\), has the model", good.out)
    assert (wrong.code, refused.code) == (1, 1)
    assert "has no model big-2" in wrong.out
    assert "big-1" in wrong.out
    assert "did not accept the key" in refused.out
    assert "--api-key" in refused.out
    assert OTHER not in refused.out + refused.err


async def test_the_doctor_says_why_there_is_no_way_to_a_model(halo: Halo) -> None:
    done = await halo.run("doctor", "--connect", "-m", "openai/x")
    assert done.code == 1
    assert "There is no key for OpenAI" in done.out
    assert "halo login openai" in done.out


async def test_commands_find_no_stored_key_in_their_environment(halo: Halo) -> None:
    call = {"tool": "execute_command", "arguments": {"command": "env", "requires_approval": False}}
    async with ModelServer([Turn(text="Hello.")]) as server:
        await login(halo, "openai", "--no-test", "--base-url", server.url("openai"))
    model = halo.script({"call": [call]}, {"text": "Done."})
    await halo.run("-y", "-p", "-m", model, "hi", env={"GROQ_API_KEY": OTHER})
    log = b"\n".join(halo.raw_log())
    assert b"PATH=" in log
    assert KEY.encode() not in log
    assert OTHER.encode() not in log


@pytest.mark.parametrize("choice", ["its number", "openai"])
def test_a_provider_is_chosen_from_a_list_and_its_key_typed_unseen(halo: Halo, choice: str) -> None:
    halo.env |= {"ANTHROPIC_API_KEY": OTHER, "TERM": "dumb"}
    terminal = halo.terminal("login", "--no-test")
    terminal.expect(r"1  anthropic +ANTHROPIC_API_KEY +…9876")
    terminal.expect(r"(\d+)  openai *\r")
    number = terminal.match[1]
    terminal.expect("Number or name: ")
    terminal.send(f"0\r{number if choice == 'its number' else choice}\r")
    terminal.expect("https://platform.openai.com/api-keys")
    terminal.expect("hidden as you paste it")
    terminal.send(f" {KEY}\r")
    terminal.expect(pexpect.EOF)
    assert "The key for OpenAI (…1234) is stored" in " ".join(terminal.before.split())
    assert KEY not in terminal.before
    terminal.close()
    assert terminal.exitstatus == 0


@pytest.mark.parametrize(("key", "code"), [("\x03", 130), ("\x04", 2)])
def test_leaving_while_a_key_is_asked_for_stores_nothing(halo: Halo, key: str, code: int) -> None:
    terminal = halo.terminal("login", "openai")
    terminal.expect("hidden as you paste it")
    terminal.send(key)
    terminal.expect(pexpect.EOF)
    assert "Traceback" not in terminal.before
    assert terminal.before.endswith("\r\n")  # the shell's prompt begins on a line of its own
    terminal.close()
    assert (terminal.exitstatus, (halo.home / "credentials").exists()) == (code, False)


async def search_engine(halo: Halo, url: str) -> None:
    halo.home.mkdir(exist_ok=True)
    (halo.home / "settings.toml").write_text(f'[web_search]\nengine = "brave"\nurl = "{url}"\n')


@pytest.mark.parametrize(("status", "code", "said"), [(200, 0, "accepted the key"), (401, 1, "did not accept the key")])
async def test_the_key_of_a_search_engine_is_tried_and_kept_like_any_other(
    halo: Halo, status: int, code: int, said: str
) -> None:
    server = Server({"web": {"results": []}}, status)
    async with serving(server.handle) as url:
        await search_engine(halo, url)
        done = await login(halo, "brave")
    assert (done.code, said in done.out + done.err) == (code, True)
    assert f"x-subscription-token: {KEY}" in server.head
    assert KEY not in done.out + done.err
    listed = await halo.run("login", "--list")
    assert ("brave" in listed.out) == (status == 200)
