"""Whatever is wrong outside: one clear sentence, what to do, the right exit code, and nothing lost."""

import os
import resource
import shutil

import pytest
from tests.surfaces.cli.halo_process import Done, Halo, call, shell

from halocline.protocol import events as ev

HI = {"text": "Hello."}
MIB = 1 << 20


def told(done: Done) -> list[str]:
    """The sentence and the hint, and nothing else."""
    sentence, hint = done.err.splitlines()
    assert sentence.startswith("halo: ")
    return [sentence.removeprefix("halo: "), hint.strip()]


def results(halo: Halo) -> list[str]:
    return [event.result.text for event in halo.log() if isinstance(event, ev.ToolCallEnded)]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-m", "nobody/x"], "There is no provider 'nobody'."),
        (["-m", "nobody"], "There is no provider 'nobody'."),
        (["-m", "ollama"], "'ollama' does not name a model."),
        (["-m", "openai/x"], "There is no key for OpenAI: OPENAI_API_KEY is not set."),
        (["-m", "openai/x", "--api-key", "clé"], "The key for OpenAI contains characters that keys do not have."),
        (["-m", "openai/x", "--base-url", "ftp://host"], "The base URL 'ftp://host' is not an http or https address."),
        (["-m", "scripted/none.toml"], "Cannot read the script none.toml: No such file or directory."),
        (["-C", "/nowhere"], "/nowhere is not a folder."),
        (["-C", "/etc/passwd"], "/etc/passwd is not a folder."),
    ],
)
async def test_a_wrong_choice_is_refused_before_anything_is_written(
    halo: Halo, words: list[str], sentence: str
) -> None:
    done = await halo.run("-p", *words, "hi")
    assert (done.code, done.out, halo.tasks) == (2, "", [])
    assert told(done)[0] == sentence


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("modle = 'x'\n", "Unknown setting 'modle'"),
        ("max_steps = 'many'\n", "max_steps in "),
        ("max_steps = 0\n", "cannot be 0"),
        ("approval_mode = 'always'\n", "'always'"),
        ("model = \n", "line 1"),
        ("[prices.'openai/x']\ninput = 1\n", "set both input and output"),
        ("[prices.'openai/x']\nwindow = 0\n", ">= 1"),
        ("[providers.work]\nfamily = 'smoke'\n", "'smoke'"),
    ],
)
async def test_wrong_settings_are_named_with_their_file(halo: Halo, settings: str, said: str) -> None:
    halo.home.mkdir()
    path = halo.home / "settings.toml"
    path.write_text(settings)
    done = await halo.run("-p", "-m", halo.script(HI), "hi")
    assert (done.code, halo.tasks) == (2, [])
    sentence, _ = told(done)
    assert str(path) in sentence
    assert said in sentence


async def test_a_wrong_variable_is_named(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script(HI), "hi", env={"HALOCLINE_MAX_COST": "cheap"})
    assert done.code == 2
    assert "HALOCLINE_MAX_COST" in told(done)[0]


async def test_a_home_that_cannot_be_made_is_named(halo: Halo) -> None:
    home = halo.root / "file"
    home.write_text("")
    done = await halo.run("-p", "-m", halo.script(HI), "hi", env={"HALOCLINE_HOME": str(home)})
    assert done.code == 2
    sentence, hint = told(done)
    assert sentence == f"Cannot use {home} as Halocline's home: Not a directory."
    assert "HALOCLINE_HOME" in hint


async def test_a_current_folder_that_is_gone_is_a_wrong_call(halo: Halo) -> None:
    gone = halo.root / "gone"
    gone.mkdir()
    done = await halo.run("-p", "-m", halo.script(HI), "hi", cwd=gone, preexec_fn=gone.rmdir)
    assert done.code == 2
    assert "Cannot find the folder" in told(done)[0]


async def test_a_damaged_log_is_named_with_its_line(halo: Halo) -> None:
    await halo.run("-p", "-m", halo.script(HI), "hi")
    path = halo.home / "tasks" / halo.tasks[0] / "events.jsonl"
    first, _, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first, b"{nonsense\n", *rest]))
    done = await halo.run("-r", halo.tasks[0], "-p", "-m", halo.script(HI), "again")
    assert done.code == 1
    assert f"The log of task {halo.tasks[0]} is damaged: line 2 cannot be read" in told(done)[0]
    assert str(path) in told(done)[0]


async def test_a_torn_last_line_is_cut_and_the_task_goes_on(halo: Halo) -> None:
    model = halo.script(HI, HI)
    await halo.run("-p", "-m", model, "hi")
    path = halo.home / "tasks" / halo.tasks[0] / "events.jsonl"
    with path.open("ab") as log:
        log.write(b'{"type":"turn_st')
    done = await halo.run("-c", "-p", "-m", model, "again")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert any(isinstance(event, ev.LogRepaired) for event in halo.log())


async def test_bytes_in_a_file_and_from_a_command_do_no_harm(halo: Halo) -> None:
    (halo.folder / "latin.txt").write_bytes("caf\u00e9\n".encode("latin-1"))
    calls = [call("read_file", path="latin.txt"), shell("head -c 1000 /dev/urandom; printf '\\0\\377'")]
    done = await halo.run("-y", "-p", "-m", halo.script({"call": calls}, HI), "hi")
    assert (done.code, done.out) == (0, "Hello.\n")
    latin, binary = results(halo)
    assert "café" in latin
    assert "binary output, 1,002 bytes, not shown" in binary


async def test_an_endless_looking_output_is_kept_on_disk_and_not_in_memory(halo: Halo) -> None:
    size = 300 * MIB
    flood = {"call": [shell(f"head -c {size} /dev/zero | tr '\\0' x")]}
    limit = (150 * MIB, 150 * MIB)
    done = await halo.run(
        "-y",
        "-p",
        "-m",
        halo.script(flood, HI),
        "hi",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, limit),
    )
    assert (done.code, done.out) == (0, "Hello.\n")
    assert f"the middle of {size:,} bytes is left out" in results(halo)[0]
    shutil.rmtree(halo.home)


@pytest.mark.parametrize("form", ["text", "stream-json"])
async def test_a_full_disk_ends_the_task_and_keeps_what_was_shown(halo: Halo, form: str) -> None:
    look, wordy = {"call": [call("list_files", path=".")]}, {"text": "Many words. " * 4_000}
    done = await halo.run(
        "--output-format",
        form,
        "-m",
        halo.script(look, wordy),
        "hi",
        env={"HALOCLINE_CHECKPOINTS": "false"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)),
    )
    assert done.code == 1
    sentence, hint = told(done)
    assert sentence.startswith(f"Cannot write the task's log {halo.home}")
    assert f"halo -r {halo.tasks[0]}" in hint
    if form == "stream-json":
        assert done.out.encode().splitlines()[:-1] == halo.raw_log()
        assert (done.result["task"], done.result["error"]) == (halo.tasks[0], sentence)
    assert (await halo.run("-c", "-p", "-m", halo.script(*[HI] * 3, name="later"), "again")).code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_a_folder_that_may_not_be_read_is_a_wrong_call(halo: Halo) -> None:
    secret = halo.root / "secret"
    secret.mkdir(0o000)
    done = await halo.run("-p", "-C", str(secret), "-m", halo.script(HI), "hi")
    assert done.code == 2
    assert told(done)[0] == f"The folder {secret} cannot be read."


@pytest.mark.parametrize("words", [["-p", "hi"], ["--output-format", "stream-json", "hi"], ["tasks", "list"]])
async def test_an_output_that_takes_no_more_is_told(halo: Halo, words: list[str]) -> None:
    model = [] if "tasks" in words else ["-m", halo.script(HI)]
    with open("/dev/full", "wb") as full:
        done = await halo.run(*words, *model, stdout=full)
    assert done.code == 1
    assert told(done)[0] == "Cannot write the output: No space left on device."


async def test_closed_streams_do_no_harm(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script(HI), "hi", preexec_fn=lambda: os.closerange(0, 3))
    assert done.code == 0
