"""Items: what a tasks file may say, and how what it may not say is told."""

from pathlib import Path

import pytest
from tests.tables import for_each

from halocline.batch.items import Item, PlaceKind, read_items, take_shard
from halocline.client.options import Choices
from halocline.protocol.errors import UsageError

GOOD = '{"id": "a", "prompt": "p"}'


def read(text: str):
    return read_items(text, "tasks.jsonl", Path("/base"))


def test_folders_are_relative_to_the_file_and_those_of_another_machine_are_not():
    line = '{{"id": "{}", "prompt": "p", {}}}'
    here = line.format("a", '"folder": "x", "accept": "true", "accept_files": "tests"')
    there = line.format("b", '"folder": "x", "place": "ssh", "machine": "m"')
    first, second = read(f"\n{here}\n\n{there}\n")
    assert (first.folder, first.accept_files, second.folder) == ("/base/x", "/base/tests", "x")
    assert second.place is PlaceKind.SSH


@for_each(
    "text, said",
    [
        ("", "There are no items in tasks.jsonl"),
        ("\n{", "line 2 of tasks.jsonl is no JSON object"),
        ('{"id": "a"}', "line 1 of tasks.jsonl: Object missing required field `prompt`"),
        ('{"id": "a", "prompt": "p", "promt": 1}', "unknown field `promt`"),
        ('{"id": "a", "prompt": " "}', "it has no prompt"),
        ('{"id": "../a", "prompt": "p"}', "an id has letters"),
        ('{"id": "a..b", "prompt": "p"}', "an id has letters"),
        ('{"id": "a.lock", "prompt": "p"}', "does not end in .lock"),
        ('{"id": "a", "prompt": "p", "place": "ssh", "folder": "x", "machine": "-oX"}', "does not begin with -"),
        ('{"id": "a", "prompt": "p", "place": "folder", "accept": "x", "accept_files": "y"}', "of the item's own"),
        (f"{GOOD}\n{GOOD}", "Two items of tasks.jsonl have the id 'a'"),
        ('{"id": "a", "prompt": "p", "folder": "x", "git": "y"}', "a folder and a repository"),
        ('{"id": "a", "prompt": "p", "revision": "x"}', "a revision goes with git"),
        ('{"id": "a", "prompt": "p", "git": "y", "place": "worktree"}', "git makes a clone"),
        ('{"id": "a", "prompt": "p", "place": "container"}', "a container needs an image"),
        ('{"id": "a", "prompt": "p", "place": "ssh", "machine": "m"}', "ssh needs a machine and a folder"),
        ('{"id": "a", "prompt": "p", "machine": "m"}', "a machine goes with the place ssh"),
        ('{"id": "a", "prompt": "p", "image": "m"}', "an image goes with the place container"),
        ('{"id": "a", "prompt": "p", "accept_files": "m"}', "accept_files go with accept"),
        ('{"id": "a", "prompt": "p", "accept_seconds": 0}', "accept_seconds is above 0"),
        ('{"id": "a", "prompt": "p", "git": "https://x/y", "revision": "a\\u0000b"}', "that no command can have"),
        ('{"id": "a", "prompt": "p", "approval_mode": "all"}', "Invalid enum value 'all'"),
    ],
)
def test_what_an_item_may_not_say_is_told_with_its_place(text, said):
    with pytest.raises(UsageError) as error:
        read(text)
    assert said in error.value.text
    assert error.value.hint


def test_each_item_is_in_exactly_one_shard():
    items = read("\n".join(f'{{"id": "i{number}", "prompt": "p"}}' for number in range(23)))
    for count in (1, 2, 5, 23, 40):
        shards = [take_shard(items, f"{number}/{count}") for number in range(1, count + 1)]
        assert sorted(item.id for shard in shards for item in shard) == sorted(item.id for item in items)
    for wrong in ("0/2", "3/2", "1", "1/x", "-1/2"):
        with pytest.raises(UsageError, match="is no shard"):
            take_shard(items, wrong)


def test_a_prompt_may_have_any_end_of_a_line_within_it():
    (item,) = read('{"id": "a", "prompt": "one\u2028two\u0085three"}\r\n')
    assert item.prompt == "one\u2028two\u0085three"


def test_of_the_limits_of_an_item_and_of_the_batch_the_smaller_ones_hold():
    item = Item("one", "do it", max_steps=5, time_limit=600.0, max_cost=1.0)
    limited = item.limit(Choices(max_steps=9, time_limit=150.0, token_limit=7))
    assert (limited.max_steps, limited.time_limit, limited.max_cost, limited.token_limit) == (5, 150.0, 1.0, 7)
