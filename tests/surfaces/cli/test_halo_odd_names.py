"""Bytes that are no UTF-8, by way of the real command line."""

import os

import pytest

LATIN = b"r\xe9gle"
REPLY = {"text": "done"}
OUTPUTS = (["--output-format", "stream-json"], ["--output-format", "json"], ["-p"], [])


@pytest.mark.parametrize("output", OUTPUTS)
async def test_a_task_in_a_folder_with_such_names_runs_in_every_output(halo, output):
    (halo.folder / os.fsdecode(LATIN)).write_text("x")
    (halo.folder / ".halocline" / "skills" / os.fsdecode(LATIN)).mkdir(parents=True)
    done = await halo.run("run", *output, "-m", halo.script(REPLY), "go")
    assert (done.code, "Traceback" in done.err) == (0, False)


async def test_an_instruction_in_latin_1_is_taken_with_the_replacement_character(halo):
    done = await halo.run("run", "-m", halo.script(REPLY), "--append-system-prompt", b"Sois br\xe9f.", "go")
    assert (done.code, done.err) == (0, "")
    assert "Sois br\ufffdf." in halo.log()[0].system_prompt


@pytest.mark.parametrize("words", [("-C", LATIN), ("--add-dir", LATIN)])
async def test_a_folder_whose_name_is_not_utf_8_is_refused_in_words(halo, words):
    (halo.folder / os.fsdecode(LATIN)).mkdir()
    done = await halo.run("run", "-m", halo.script(REPLY), *words, "go")
    assert done.code == 2
    assert "is not valid UTF-8" in done.err
    assert halo.tasks == []


async def test_commands_that_list_things_name_such_files(halo):
    (halo.folder / ".clinerules").mkdir()
    (halo.folder / ".clinerules" / f"{os.fsdecode(LATIN)}.md").write_text("Be brief.")
    for words in (["rules", "list"], ["rules", "list", "--json"], ["context", "--json"], ["doctor"]):
        done = await halo.run(*words)
        assert "Traceback" not in done.err, words
