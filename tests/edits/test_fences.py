import pytest

from halocline.edits.formats.blocks import parse_blocks, without_stray_fences
from halocline.edits.plan import all_or_none
from halocline.edits.text import TextFile

CODE = "a\nb\nc\n"


def edited(search: str, replace: str, text: str = CODE, path: str = "a.py") -> str:
    blocks = parse_blocks(f"------- SEARCH\n{search}\n=======\n{replace}\n+++++++ REPLACE\n")
    return all_or_none(TextFile(text), without_stray_fences(blocks, text, path)).file.text


@pytest.mark.parametrize(
    ("search", "replace"),
    [
        ("b", "x\n```"),
        ("b", "```python\nx"),
        ("```\nb\n```", "```\nx\n```"),
        ("```python\nb", "```python\nx"),
        ("```\nb\n```", "x"),
    ],
)
def test_fences_around_the_parts_of_a_block_are_no_content(search: str, replace: str) -> None:
    assert edited(search, replace) == "a\nx\nc\n"


def test_a_whole_fenced_block_that_is_added_is_content() -> None:
    assert edited("b", "```\nx\n```") == "a\n```\nx\n```\nc\n"


@pytest.mark.parametrize(("text", "path"), [(CODE, "a.md"), (CODE + "```\nq\n```\n", "a.py")])
def test_a_fence_is_content_in_markup_and_in_a_file_that_has_fences(text: str, path: str) -> None:
    assert edited("b", "x\n```", text, path) == text.replace("b\n", "x\n```\n")
