from pathlib import Path

import pytest

from halocline.context.system_prompt.build import PromptOptions
from halocline.protocol.errors import SettingsError
from halocline.store.settings.prompt_files import LARGEST, read_prompt_options

NOTHING = {"whole": "", "added": "", "language": ""}


def test_without_files_there_are_no_wishes(tmp_path: Path):
    assert read_prompt_options(tmp_path, **NOTHING) == PromptOptions()


def test_sections_texts_and_files_are_read(tmp_path: Path):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "safety.md").write_text("Be careful.")
    (tmp_path / "prompts" / "notes.txt").write_text("not ours")
    (tmp_path / "mine.md").write_text("\ufeffMine.")
    found = read_prompt_options(tmp_path, whole="mine.md", added=f"@{tmp_path / 'mine.md'}", language="Welsh")
    assert found == PromptOptions({"safety": "Be careful."}, "Mine.", "Mine.", "Welsh")
    assert read_prompt_options(tmp_path, whole="", added="Hello @all", language="").added == "Hello @all"


def test_a_section_that_is_none_is_an_error_with_the_list(tmp_path: Path):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "saftey.md").touch()
    with pytest.raises(SettingsError, match="no section 'saftey'") as raised:
        read_prompt_options(tmp_path, **NOTHING)
    assert "role, working, habits, editing" in raised.value.hint


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"x" * (LARGEST + 1)])
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, content: bytes | None):
    if content is not None:
        (tmp_path / "mine.md").write_bytes(content)
    with pytest.raises(SettingsError, match=r"mine\.md"):
        read_prompt_options(tmp_path, **{**NOTHING, "whole": "mine.md"})
