from pathlib import Path

import pytest

from halocline.protocol.errors import ToolFailure


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def make(workspace: Path) -> Path:
    folder = workspace / ".claude/skills/pdf"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: pdf\ndescription: Works with PDF.\n---\nRead forms.md.\n")
    (folder / "forms.md").write_text("")
    return folder


@pytest.mark.parametrize("name", ["pdf", "/pdf", " pdf"])
async def test_a_skill_gives_its_text_and_names_its_files(say, workspace, name):
    folder = make(workspace)
    text = await say("use_skill", skill_name=name)
    assert text.startswith("# Skill pdf\n\nRead forms.md.\n")
    assert f"[Bundled files in {folder}; read them with read_file when needed:\nforms.md]" in text
    assert "description" not in text


async def test_an_unknown_skill_is_answered_with_those_there_are(say, workspace):
    make(workspace)
    with pytest.raises(ToolFailure, match=r"No skill is named 'docx'\. Available skills: pdf\."):
        await say("use_skill", skill_name="docx")
