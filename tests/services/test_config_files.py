"""Files that steer Halocline, edited by a person: which ones, and that nothing is lost."""

import asyncio
import os
from pathlib import Path

import pytest

from halocline.protocol.errors import UsageError
from halocline.services.config_files import ConfigFiles


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("HALOCLINE_HOME", str(tmp_path / "home"))
    (tmp_path / "me").mkdir()
    (tmp_path / "work" / ".git").mkdir(parents=True)
    return tmp_path / "work"


def save(work: Path, path: Path | str, text: str, version: str = "") -> None:
    asyncio.run(ConfigFiles.open(work).write(str(path), text, version))


def refusal(work: Path, path: Path | str, text: str = "x", version: str = "") -> str:
    with pytest.raises(UsageError) as raised:
        save(work, path, text, version)
    return raised.value.text


def test_a_file_is_read_and_saved(work: Path) -> None:
    (work / "AGENTS.md").write_text("old\n")
    found = ConfigFiles.open(work).read(str(work / "AGENTS.md"))
    save(work, work / "AGENTS.md", "new\n", found.version)
    assert (found.text, (work / "AGENTS.md").read_text()) == ("old\n", "new\n")


def test_a_file_that_changed_meanwhile_is_not_overwritten(work: Path) -> None:
    (work / "AGENTS.md").write_text("old\n")
    found = ConfigFiles.open(work).read(str(work / "AGENTS.md"))
    (work / "AGENTS.md").write_text("another\n")
    assert "changed meanwhile" in refusal(work, work / "AGENTS.md", "new\n", found.version)
    assert (work / "AGENTS.md").read_text() == "another\n"


def test_a_file_that_came_meanwhile_is_not_overwritten(work: Path) -> None:
    (work / "AGENTS.md").write_text("mine\n")
    assert "changed meanwhile" in refusal(work, work / "AGENTS.md")


def test_a_saved_file_keeps_its_permissions(work: Path) -> None:
    rule = work / ".halocline" / "rules" / "a.md"
    rule.parent.mkdir(parents=True)
    rule.write_text("old\n")
    rule.chmod(0o640)
    save(work, rule, "new\n", ConfigFiles.open(work).read(str(rule)).version)
    assert (rule.read_text(), rule.stat().st_mode & 0o777) == ("new\n", 0o640)


@pytest.mark.parametrize(
    "name",
    [
        "AGENTS.md",
        "sub/AGENTS.md",
        ".halocline/rules/deep/a.md",
        ".clinerules/workflows/a.md",
        ".claude/skills/one/SKILL.md",
        ".halocline/agents/a.md",
        ".halocline/settings.toml",
    ],
)
def test_a_file_of_the_table_of_locations_can_be_made(work: Path, name: str) -> None:
    save(work, work / name, "")
    assert (work / name).exists()


@pytest.mark.parametrize(
    "name",
    [
        "a.py",
        "README.md",
        ".git/hooks/pre-commit",
        ".halocline/hooks/a.sh",
        ".claude/settings.json",
        ".mcp.json",
        ".halocline/rules/../../a.py",
        ".halocline/rules/a.py",
        ".halocline/policy.toml",
        "../AGENTS.md",
        "../me/.bashrc",
        "../home/keys",
        "relative.md",
        "a\0b",
    ],
)
def test_no_other_file_is_read_or_written(work: Path, name: str) -> None:
    assert "is not a file that Halocline reads" in refusal(work, f"{work}/{name}")
    with pytest.raises(UsageError):
        ConfigFiles.open(work).read(f"{work}/{name}")


def test_a_projects_link_to_the_outside_is_not_followed(work: Path) -> None:
    (work.parent / "other.md").write_text("other\n")
    (work / "AGENTS.md").symlink_to(work.parent / "other.md")
    assert "leads out of the project" in refusal(work, work / "AGENTS.md")


def test_a_projects_folder_that_is_a_link_to_the_outside_is_not_followed(work: Path) -> None:
    (work.parent / "me" / "rules").mkdir()
    (work / ".halocline").mkdir()
    (work / ".halocline" / "rules").symlink_to(work.parent / "me" / "rules")
    assert "leads out of the project" in refusal(work, work / ".halocline" / "rules" / "a.md")


def test_a_pipe_in_the_place_of_a_file_does_not_block(work: Path) -> None:
    os.mkfifo(work / "AGENTS.md")
    assert "named pipe" in refusal(work, work / "AGENTS.md")


def test_a_file_with_a_key_is_not_shown(work: Path) -> None:
    (work / "AGENTS.md").write_text("key = sk-ant-api03-" + "Ab1" * 31 + "AA")
    with pytest.raises(UsageError, match="looks like a key"):
        ConfigFiles.open(work).read(str(work / "AGENTS.md"))


@pytest.mark.parametrize("text", ["max_steps = 'many'", "max_stepz = 3", "= ="])
def test_settings_that_cannot_be_read_are_not_saved(work: Path, text: str) -> None:
    settings = work.parent / "home" / "settings.toml"
    save(work, settings, "max_steps = 9\n")
    version = ConfigFiles.open(work).read(str(settings)).version
    assert refusal(work, settings, text, version)
    assert settings.read_text() == "max_steps = 9\n"


def test_settings_with_a_byte_order_mark_are_saved(work: Path) -> None:
    settings = work.parent / "home" / "settings.toml"
    save(work, settings, "\ufeffmax_steps = 9\n")
    found = ConfigFiles.open(work).read(str(settings))
    save(work, settings, found.text.replace("9", "7"), found.version)
    assert settings.read_bytes() == b"\xef\xbb\xbfmax_steps = 7\n"


def test_the_list_has_what_is_there_and_where_settings_would_be(work: Path) -> None:
    (work / "AGENTS.md").write_text("a")
    (work / ".claude" / "skills" / "one").mkdir(parents=True)
    (work / ".claude" / "skills" / "one" / "SKILL.md").write_text("a")
    found = {(one.shown, one.holds) for one in ConfigFiles.open(work).list()}
    assert {("AGENTS.md", "rules"), (".claude/skills/one/SKILL.md", "skills")} <= found
    assert (".halocline/settings.toml", "settings") in found
