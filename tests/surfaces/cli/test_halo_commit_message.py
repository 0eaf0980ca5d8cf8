"""`halo commit-message`: one request with what would be committed, and the message on standard output."""

import asyncio
import signal
import subprocess

import pytest
from tests.servers.model_server import Fault, ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo, asks, ended

pytestmark = pytest.mark.process
MESSAGE = "fix: count the last row\n\nThe loop ended one row early."


def git(halo: Halo, *words: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=halo.folder, env=halo.env, check=True, capture_output=True)


@pytest.fixture
def repository(halo: Halo) -> Halo:
    git(halo, "init", "--quiet", "-b", "main")
    (halo.folder / "rows.py").write_text("rows = 1\n")
    (halo.folder / "AGENTS.md").write_text("Begin the subject of a commit with its kind.\n")
    git(halo, "add", "--all")
    git(halo, "commit", "--quiet", "-m", "feat: count rows")
    (halo.folder / "rows.py").write_text("rows = 2\n")
    return halo


def sent(server: ModelServer) -> tuple[str, str]:
    """The system prompt and the text of the only message of the only request."""
    (request,) = server.requests
    system, message = request.body["messages"]
    content = message["content"]
    assert "tools" not in request.body
    return system["content"], content if isinstance(content, str) else "".join(part["text"] for part in content)


async def test_the_message_of_all_changes_is_printed_and_no_task_remains(repository: Halo) -> None:
    async with ModelServer([Turn(text=f"```\n{MESSAGE}\n```", chunk=3)]) as server:
        done = await repository.run("commit-message", *asks(server))
        system, message = sent(server)
    assert (done.code, done.out, done.err) == (0, f"{MESSAGE}\n", "")
    assert "Begin the subject of a commit with its kind." in system
    assert "- feat: count rows" in message
    assert "\n-rows = 1\n+rows = 2\n" in message
    assert repository.tasks == []


async def test_what_is_staged_is_described_unless_all_is_asked_for(repository: Halo) -> None:
    (repository.folder / "staged.py").write_text("staged = 1\n")
    git(repository, "add", "staged.py")
    for flags, others in (((), False), (("--all",), True)):
        async with ModelServer([Turn(text="x")]) as server:
            await repository.run("commit-message", *flags, *asks(server))
            _, message = sent(server)
        assert ("staged = 1" in message, "rows = 2" in message) == (True, others)


async def test_secrets_and_hidden_files_are_not_sent(repository: Halo) -> None:
    key = "sk-ant-api03-" + "Ab9" * 30
    for name, text in ((".env", "TOKEN=hush"), ("plans.txt", "hush"), ("rows.py", f'key = "{key}"\n')):
        (repository.folder / name).write_text(text)
    (repository.folder / ".haloclineignore").write_text("plans.txt\n")
    async with ModelServer([Turn(text="x")]) as server:
        await repository.run("commit-message", *asks(server))
        _, message = sent(server)
    assert "- ? .env (may hold secrets: not shown)" in message
    assert "that you may not see" in message
    assert all(word not in message for word in ("hush", "plans.txt", key))


async def test_ctrl_c_ends_it_with_a_whole_line_and_its_exit_code(repository: Halo) -> None:
    async with ModelServer([Turn(text="Begin " * 100, chunk=6, pace=0.05)]) as server:
        process = await repository.start("commit-message", *asks(server))
        assert process.stdout is not None
        begun = await process.stdout.read(6)
        process.send_signal(signal.SIGINT)
        done = await ended(process)
        async with asyncio.timeout(20):
            while not server.disconnects:
                await asyncio.sleep(0.01)
    assert (done.code, done.err) == (130, "")
    assert (begun.decode() + done.out).endswith("n\n")


async def test_what_is_missing_is_said(halo: Halo) -> None:
    for name in ("one", "two"):
        (halo.folder / name).mkdir()
        subprocess.run(["git", "init", "--quiet"], cwd=halo.folder / name, check=True)
    done = await halo.run("commit-message")
    assert (done.code, done.out) == (2, "")
    assert "is not a git repository." in done.err
    assert "Name a repository with -C: one, two." in done.err
    done = await halo.run("commit-message", "-C", "one")
    assert (done.code, "Nothing to commit in" in done.err) == (2, True)
    (halo.folder / "one/x").write_text("x")
    done = await halo.run("commit-message", "-C", "one")
    assert (done.code, "No model is configured." in done.err) == (2, True)


async def test_a_model_that_fails_breaks_off_or_says_nothing_is_an_error(repository: Halo) -> None:
    broken = Turn(text="Half of it and more", fault=Fault.DISCONNECT)
    for turn, text in ((Turn(fault=Fault.AUTH), "key"), (broken, "The reply broke off.")):
        async with ModelServer([turn, Turn(text="Whole")]) as server:
            done = await repository.run("commit-message", *asks(server))
        assert (done.code, text in done.err) == (1, True), done


async def test_hidden_characters_of_a_message_are_shown(repository: Halo) -> None:
    async with ModelServer([Turn(text="Fix \x1b[31mit\u202e", chunk=1)]) as server:
        done = await repository.run("commit-message", *asks(server))
    assert done.out == "Fix ␛[31mit<U+202E>\n"
