"""Text that is piped in beside a prompt, and terminals that cannot show every letter."""

import shlex

import pexpect
import pytest
from tests.surfaces.cli.forked_terminal import HaloTerminal
from tests.surfaces.cli.halo_process import HALO, LIMIT, Halo, call

from halocline.protocol.messages import PIPED, Note
from halocline.surfaces.entered_keys import COMMON

pytestmark = [pytest.mark.process, pytest.mark.slow]
LARGE = "a line of a log\n" * 20_000 + "the needle\n" + "another line\n" * 20_000


def piped_note(halo: Halo) -> Note:
    return next(part for part in halo.log()[1].content if isinstance(part, Note) and part.source == PIPED)


async def test_large_input_is_kept_in_a_file_that_the_model_can_read(halo: Halo) -> None:
    outputs = halo.home / "tasks" / "big" / "outputs"
    looks = {"call": [call("search_files", path=str(outputs), regex="the needle")]}
    words = ("--session-id", "big", "-m", halo.script(looks, {"text": "Found."}))
    done = await halo.run("-p", *words, "what is in it?", stdin=LARGE.encode())
    assert (done.code, done.out) == (0, "Found.\n")
    assert f"Standard input is large ({len(LARGE.strip()):,} characters)" in done.err
    assert (outputs / "stdin-1.txt").read_text() == LARGE.strip()
    assert len(piped_note(halo).text) < 32_000
    assert f"all of it is in {outputs / 'stdin-1.txt'}" in piped_note(halo).text
    ended = next(event for event in halo.log() if type(event).__name__ == "ToolCallEnded")
    assert ended.status == "completed"
    assert "the needle" in str(ended.result)


async def test_a_later_input_leaves_the_earlier_file_as_it_was(halo: Halo) -> None:
    words = ("-p", "-m", halo.script({"text": "First."}, {"text": "Second."}))
    await halo.run(*words, "--session-id", "big", "one", stdin=LARGE.encode())
    await halo.run(*words, "-r", "big", "two", stdin=LARGE.upper().encode())
    outputs = halo.home / "tasks" / "big" / "outputs"
    kept = [(outputs / f"stdin-{number}.txt").read_text() for number in (1, 2)]
    assert kept == [LARGE.strip(), LARGE.upper().strip()]


async def test_other_input_is_sent_whole(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script({"text": "Found."}), "what is in it?", stdin=b"little")
    assert (done.err, piped_note(halo).text) == ("", "little")


async def test_blanks_are_no_prompt(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script({"text": "Hi."}), "   ")
    assert (done.code, "No prompt." in done.err, halo.tasks) == (2, True, [])


def in_a_shell(halo: Halo, command: str) -> pexpect.spawn:
    return pexpect.spawn(
        "sh",
        ["-c", command],
        cwd=str(halo.folder),
        env=halo.env | {"PROMPT_TOOLKIT_NO_CPR": "1"},
        dimensions=(30, 80),
        timeout=LIMIT,
        encoding="utf-8",
    )


def test_a_person_who_pipes_something_in_is_asked_and_stays(halo: Halo) -> None:
    model = halo.script({"text": "One."}, {"text": "Two."})
    person = in_a_shell(halo, f"echo some data | {shlex.join([*HALO, '-m', model, 'look'])}")
    person.expect("One\\.")
    person.expect("❯")
    person.send("more\r")
    person.expect("Two\\.")
    person.send("\x04")
    person.expect(pexpect.EOF)
    assert piped_note(halo).text == "some data"


def test_without_any_input_nobody_is_there(halo: Halo) -> None:
    person = in_a_shell(halo, f"{shlex.join([*HALO, '-m', halo.script({'text': 'One.'}), 'look'])} </dev/null")
    person.expect("One\\.")
    person.expect(pexpect.EOF)


async def test_letters_that_the_output_lacks_are_replaced(halo: Halo) -> None:
    ascii_only = {"env": halo.env | {"PYTHONIOENCODING": "ascii"}}
    await halo.run("-p", "-m", halo.script({"text": "Hi."}), "café")
    for words in (("tasks", "list"), ("tasks", "show", halo.tasks[0]), ("export", halo.tasks[0])):
        done = await halo.run(*words, **ascii_only)
        assert (done.code, "caf?" in done.out, done.err) == (0, True, ""), words


async def test_a_checkpoint_names_the_prompt_of_its_task(halo: Halo) -> None:
    write = {"call": [call("write_to_file", path="a.txt", content="x\n")]}
    await halo.run("-p", "-y", "-m", halo.script(write, {"text": "Hi."}), "write a file")
    listed = (await halo.run("checkpoints")).out.splitlines()
    assert len(listed) == 2
    assert all(line.endswith(" · write a file") for line in listed)


async def test_models_are_listed_once_and_only_those_for_chat(halo: Halo) -> None:
    listed = (await halo.run("models", "--json", env=halo.env | {"OPENAI_API_KEY": "k"})).lines
    names = {line["name"] for line in listed}
    assert "openai/gpt-5.6" in names
    assert not [name for name in names if "embedding" in name or "realtime" in name or name.startswith("openai-r")]
    everything = await halo.run("models", "--json", "--all", "openai/")
    assert "openai/text-embedding-3-large" in everything.out


async def test_providers_with_a_key_come_first_then_the_common_ones_and_search_engines_last(halo: Halo) -> None:
    env = halo.env | {"MISTRAL_API_KEY": "k" * 40, "TERM": "dumb"}
    person = HaloTerminal(["login"], env=env, cwd=halo.root, size=(24, 80))
    person.expect("Number or name")
    rows = [line.split()[1:] for line in person.before.splitlines() if line.strip()[:1].isdigit()]
    assert rows[0][0] == "mistral"
    rest = [row[0] for row in rows[1:] if "search)" not in row]
    common = [name for name in COMMON if name != "mistral"]
    assert rest == [*common, *sorted(set(rest) - set(common))]
    assert all("search)" in row for row in rows[len(rest) + 1 :])
    person.sendintr()
    person.expect(pexpect.EOF)
    assert person.before.endswith("\r\n")
