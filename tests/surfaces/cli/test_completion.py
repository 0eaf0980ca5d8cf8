import asyncio

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from halocline.protocol.errors import UsageError
from halocline.runtime.mentions.suggestions import Mentionable
from halocline.surfaces.terminal.composing.completion import Choice, Known, Mentions, build_completer, is_begun

FOUND = Mentionable(
    files=(
        "src/used_config.py",
        "src/config.py",
        "src/deep/config.py",
        "docs/my notes.md",
        "configure",
        "x/conflict/a.txt",
    ),
    recent=1,
    commits=(("0a1b2c3", "Mend the parser"), ("beefbee", "Add tables")),
    tasks=(("task-9z", "Write the docs"),),
)


async def offered(text, found=FOUND):
    async def load():
        return found

    return await asyncio.to_thread(Mentions(load), text)


@pytest.mark.parametrize("text", ["see @", "@", "(@src", 'see @"my no', "see @a\\ b", "/ne", "@task:"])
def test_what_is_begun_may_be_completed(text):
    assert is_begun(text)


@pytest.mark.parametrize("text", ["", "see", "me@example.org", "see @a.py ", "a/b", "/new task", '@"a" ', "\\@a"])
def test_prose_offers_nothing(text):
    assert not is_begun(text)


async def test_the_words_stand_first_then_the_files_those_that_were_used_before_the_others():
    choices = [choice.text for choice in await offered("see @")]
    assert choices[:4] == ["@problems ", "@terminal ", "@git-changes ", "@src/used_config.py "]


async def test_a_choice_takes_the_place_of_what_was_typed_from_the_at_sign_on():
    choices = await offered("see @my")
    assert choices == [Choice('@"docs/my notes.md" ', 3, "docs/my notes.md")]
    assert [choice.replaces for choice in await offered('see @"my')] == [4]
    assert [choice.replaces for choice in await offered("see @my\\ no")] == [7]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("config", ["configure", "src/config.py", "src/deep/config.py", "src/used_config.py"]),
        ("sdpc", ["src/deep/config.py"]),
        ("deep/", ["src/deep/", "src/deep/config.py"]),
        ("/src/config.py", []),
        ("CONFIGURE", []),
        ("nothing", []),
    ],
)
def test_files_are_found_by_their_letters_and_the_last_part_counts_most(query, best):
    assert Known(FOUND).paths(query)[: len(best)] == best
    assert best or not Known(FOUND).paths(query)


def test_of_two_files_that_fit_alike_the_one_that_was_used_comes_first():
    found = Mentionable(files=("long/way/to/config.py", "config.py"), recent=1)
    assert Known(found).paths("conf") == ["long/way/to/config.py", "config.py"]


async def test_a_folder_goes_on_being_completed():
    assert (await offered("@src"))[0].text == "@src/"


async def test_commits_are_found_by_their_beginning_and_their_subject():
    assert [choice.text for choice in await offered("@0a1")] == ["@0a1b2c3 "]
    assert [choice.meaning for choice in await offered("@tables")] == ["Add tables"]


async def test_tasks_are_found_by_their_name_and_their_title():
    assert [choice.text for choice in await offered("@task:")] == ["@task:task-9z "]
    assert "@task:task-9z " in [choice.text for choice in await offered("@the docs".replace(" ", "\\ "))]


async def test_a_list_of_files_that_cannot_be_had_offers_the_words_alone():
    async def load():
        raise UsageError("no")

    source = Mentions(load)
    assert [choice.text for choice in await asyncio.to_thread(source, "@prob")] == ["@problems "]


async def test_sources_are_asked_in_their_order():
    asked = build_completer(
        [lambda text: [Choice("one", len(text), "1")], lambda text: [Choice("two", 0, "2", "second")]]
    )
    choices = [choice async for choice in asked.get_completions_async(Document("ab"), CompleteEvent())]
    assert [(choice.text, choice.start_position) for choice in choices] == [("one", -2), ("two", 0)]


async def test_every_path_that_is_offered_is_mentioned_by_what_is_typed_for_it():
    from halocline.context.user_files.mentions import find_mentions

    names = ["a b", "x.", "(y)", "it's", "a`b", "0123456", "task:x", "problems", "http://x", "a:3", "ü/日本", "a\\b"]
    for name in names:
        (choice,) = [one for one in await offered("@", Mentionable((name,))) if one.shown == name]
        (mention,) = find_mentions(f"see {choice.text}")
        assert name in (mention.target, mention.whole), choice.text


async def test_what_no_list_of_files_has_is_offered_folder_by_folder(tmp_path):
    for name in (".github/ci.yml", ".env.example", "secret/.x", "work/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    inside = Mentionable(workspace=str(tmp_path), ignored=("secret/",))
    outside = Mentionable(workspace=str(tmp_path / "work"))
    assert [choice.text for choice in await offered("@.", inside)] == ["@.env.example ", "@.github/"]
    assert [choice.text for choice in await offered("@.github/", inside)] == ["@.github/ci.yml "]
    assert await offered("@secret/.", inside) == []
    assert [choice.text for choice in await offered("@../w", outside)] == ["@../work/"]
    assert [choice.text for choice in await offered(f"@{tmp_path}/work/", outside)] == [f"@{tmp_path}/work/a.txt "]
