import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.docs.guide_examples import BLOCK, PAGES, Session, console_blocks, matches, split_session

from halocline.store.settings.load import load_settings

EVERY = [pytest.param(path, id=path.stem) for path in PAGES]
WITH_SESSION = [pytest.param(path, id=path.stem) for path in PAGES if "```console" in path.read_text()]


def blocks(path: Path, language: str) -> list[str]:
    return [text for name, text in BLOCK.findall(path.read_text(encoding="utf-8")) if name == language]


@pytest.mark.slow
@pytest.mark.parametrize("path", WITH_SESSION)
def test_halo_prints_what_the_page_shows(path: Path):
    page = path.read_text(encoding="utf-8")
    with Session.open(page) as session:
        for command, expected in (pair for block in console_blocks(page) for pair in split_session(block)):
            printed = session.run(command)
            assert matches(expected, printed), f"$ {command}\n" + "\n".join(printed)


@pytest.mark.parametrize("path", EVERY)
def test_settings_in_the_page_are_valid(path: Path, tmp_path: Path):
    for text in blocks(path, "toml"):
        if text.startswith("# settings.toml"):
            settings = tmp_path / "settings.toml"
            settings.write_text(text)
            load_settings(settings, {})
        else:
            tomllib.loads(text)


@pytest.mark.process
@pytest.mark.parametrize("path", EVERY)
def test_json_and_scripts_in_the_page_can_be_read(path: Path):
    for text in blocks(path, "json"):
        json.loads(text)
    for text in [*blocks(path, "bash"), *blocks(path, "sh")]:
        subprocess.run(["bash", "-n"], input=text.encode(), check=True)


def test_the_first_page_leads_to_every_other():
    links = set(re.findall(r"\]\((\w[\w-]*\.md)\)", (PAGES[0].parent / "README.md").read_text()))
    assert {path.name for path in PAGES} - {"README.md"} <= links


def test_an_ellipsis_stands_for_a_part_of_a_line_or_for_lines():
    assert matches(["a … c", "…", "d"], ["a b c", "x", "y", "d"])
    assert not matches(["a … c", "d"], ["a b c", "x", "d"])
