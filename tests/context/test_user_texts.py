"""Rules, commands, skills, agents and notes are read alike: in any encoding, and past links that lead nowhere."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from halocline.context.instructions.files import Reader
from halocline.context.instructions.places import Roots
from halocline.context.user_files.agents import found_agents
from halocline.context.user_files.commands import Places, found_words, read_word
from halocline.context.user_files.memory import text_of
from halocline.context.user_files.skills import found_skills, read_instructions

HEAD = "---\nname: one\ndescription: A café.\n---\n"
BODY = "Say café twice."
ENCODED = {
    "utf-8": lambda text: text.encode(),
    "utf-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "windows": lambda text: text.encode("cp1252"),
    "utf-16": lambda text: text.encode("utf-16"),
    "windows ends": lambda text: text.replace("\n", "\r\n").encode(),
}


def rules(project: Path) -> list[str]:
    return [file.rule.text for file in Reader(Roots(project)).all()]


def commands(project: Path) -> list[str]:
    places = Places(project, project.parent / "own", project.parent / "home")
    return [read_word(file).body for file in found_words(places).files.values()]


def skills(project: Path) -> list[str]:
    return [read_instructions(skill).strip() for skill in found_skills(project, project.parent / "home").skills]


def agents(project: Path) -> list[str]:
    return [agent.prompt for agent in found_agents(project, project.parent / "own", project.parent / "home").agents]


def notes(project: Path) -> list[str]:
    return [text_of(project / "notes.md").strip()] if (project / "notes.md").exists() else []


KINDS: dict[str, tuple[str, str, Callable[[Path], list[str]]]] = {
    "rules": (".claude/rules/one.md", BODY, rules),
    "commands": (".claude/commands/one.md", BODY, commands),
    "skills": (".claude/skills/one/SKILL.md", HEAD + BODY, skills),
    "agents": (".claude/agents/one.md", HEAD + BODY, agents),
    "notes": ("notes.md", BODY, notes),
}


def write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_text_is_read_in_every_encoding(project, kind, encoding):
    name, text, read = KINDS[kind]
    write(project / name, ENCODED[encoding](text))
    assert read(project) == [BODY]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "notes"])
def test_what_is_no_text_is_no_text_of_any_kind(project, kind):
    name, _, read = KINDS[kind]
    write(project / name, b"\x89PNG\r\n\x1a\n\0\0")
    if kind == "commands":
        with pytest.raises(OSError, match="it is not a text file"):
            read(project)
    else:
        assert [text for text in read(project) if text] == []


@pytest.mark.parametrize("target", ["loop", ".", "nowhere", "../.."])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "notes"])
def test_a_link_in_its_folder_that_leads_in_a_circle_or_nowhere_hides_nothing(project, kind, target):
    name, text, read = KINDS[kind]
    write(project / name, text.encode())
    os.symlink(target, project / name.split("one")[0] / "loop")
    assert BODY in read(project)


def test_a_long_text_without_lines_is_not_cut_within_a_character(project):
    write(project / ".claude/commands/one.md", b"x" * 99_999 + "é".encode() + b"y" * 100)
    assert commands(project) == ["x" * 99_999]
