import pytest
from tests.surfaces.cli.halo_process import Halo

HI = {"text": "Hello."}


@pytest.mark.parametrize("words", [["--version"], ["-V"], ["--version", "hi"]])
async def test_the_version_is_told(halo: Halo, words: list[str]) -> None:
    done = await halo.run(*words)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("halo 0.")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["run"],
        ["demo"],
        ["tasks"],
        ["tasks", "list"],
        ["tasks", "show"],
        ["tasks", "delete"],
        ["export"],
        ["checkpoints"],
        ["checkpoints", "list"],
        ["checkpoints", "diff"],
        ["checkpoints", "restore"],
        ["models"],
        ["rules"],
        ["rules", "list"],
        ["rules", "why"],
        ["rules", "new"],
        ["doctor"],
    ],
    ids=" ".join,
)
async def test_every_command_explains_itself_within_eighty_columns(halo: Halo, words: list[str]) -> None:
    done = await halo.run(*words, "--help", env={"COLUMNS": "80"})
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(" ".join(["usage: halo", *words]))
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "said", "advice"),
    [
        (["--nope"], "Unrecognized arguments: --nope.", "halo --help"),
        (["--versio"], "Unrecognized arguments: --versio.", "halo --help"),
        (["run", "--nope"], "Unrecognized arguments: --nope.", "halo run --help"),
        (["tasks", "lst"], "invalid choice: 'lst'", "halo tasks --help"),
        (["export"], "There are no tasks yet.", 'halo "what to do"'),
        (["--max-steps", "0", "hi"], "'0' is not a whole number above 0", "halo --help"),
        (["--max-cost", "nan", "hi"], "'nan' is not a number above 0", "halo --help"),
        (["--time-limit", "soon", "hi"], "'soon' is not a number above 0", "halo --help"),
        (["--output-format", "yaml", "hi"], "invalid choice: 'yaml'", "halo --help"),
        (["taskz", "list"], "Unknown command 'taskz'.", "Did you mean: halo tasks?"),
        (["doctr"], "Unknown command 'doctr'.", 'To send it as a prompt: halo run "doctr"'),
        (["help"], "Unknown command 'help'.", "halo --help"),
        (["-C", ".", "tasks", "list"], "The command tasks must come first.", "Use: halo tasks"),
        ([], "No prompt.", 'halo "what to do"'),
        (["run"], "No prompt.", "pipe it in"),
        (["-p", ""], "No prompt.", "pipe it in"),
    ],
)
async def test_a_wrong_call_ends_with_one_sentence_and_a_hint(
    halo: Halo, words: list[str], said: str, advice: str
) -> None:
    done = await halo.run(*words)
    assert (done.code, done.out) == (2, "")
    sentence, hint = done.err.splitlines()
    assert sentence.startswith("halo: ")
    assert said in sentence
    assert advice in hint


async def test_a_word_that_is_like_a_command_is_a_prompt_after_run(halo: Halo) -> None:
    done = await halo.run("run", "-p", "-m", halo.script({"expect": "taskz", **HI}), "taskz")
    assert (done.code, done.out) == (0, "Hello.\n")


async def test_a_command_is_a_prompt_after_two_dashes(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script({"expect": "doctor", **HI}), "--", "doctor")
    assert (done.code, done.out) == (0, "Hello.\n")


async def test_flags_may_stand_between_the_words_of_a_prompt(halo: Halo) -> None:
    done = await halo.run("say", "-p", "hello", "-m", halo.script({"expect": "say hello twice", **HI}), "twice")
    assert done.code == 0
