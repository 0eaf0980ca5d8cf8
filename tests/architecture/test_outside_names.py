"""Nothing that ships trusts a name elsewhere that is not ours: whoever holds it would run code with people's keys."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from tests.architecture.sources import ROOT

NAMES = tomllib.loads((ROOT / "scripts" / "outside_names.toml").read_text(encoding="utf-8"))["names"]
FILES = ("README.md", "SECURITY.md", "CHANGELOG.md", "Makefile", "pyproject.toml")
FOLDERS = ("src", "docs", "editors", "integrations", "examples")
READABLE = {"", ".py", ".md", ".js", ".json", ".toml", ".yml", ".yaml", ".sh", ".txt", ".html"}
TRUSTING = {
    "the Python package index": [
        "pip install 'halocline[mcp]'",
        "pip install --upgrade halocline",
        "uv tool install halocline",
        "uvx halocline",
        "pipx install halocline",
        'uvx --from "halocline[acp]" halo acp',
    ],
    "GitHub": [
        "https://github.com/halocline/halocline/issues",
        "uses: halocline/halocline/integrations/github@main",
        "user.email=halocline@users.noreply.github.com",
    ],
    "the market of VS Code": ["code --install-extension halocline.halocline"],
    "Open VSX": ["https://open-vsx.org/extension/halocline/halocline"],
    "the registry of the Agent Client Protocol": ["https://agentclientprotocol.com/agents/halocline"],
    "domains": ["see https://halocline.dev/docs"],
}


def shipped() -> Iterator[tuple[str, str]]:
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if "vendor" not in path.parts)
    for path in (*(ROOT / name for name in FILES), *below):
        if path.is_file() and path.suffix in READABLE:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8", errors="replace")


def trusting_lines(trusts: list[str], text: str) -> list[str]:
    return [line for line in text.splitlines() if any(re.search(one, line) for one in trusts)]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name["place"])
def test_nothing_that_ships_trusts_a_name_that_is_not_ours(name: dict[str, Any]) -> None:
    trusts = [] if name["ours"] else name["trusts"]
    found = [(path, line) for path, text in shipped() for line in trusting_lines(trusts, text)]
    assert found == []


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name["place"])
def test_text_that_trusts_the_name_is_known(name: dict[str, Any]) -> None:
    texts = TRUSTING[name["place"]]
    assert [text for text in texts if not trusting_lines(name["trusts"], text)] == []


def test_the_name_may_stand_in_what_installs_a_file() -> None:
    (index,) = [name for name in NAMES if name["place"] == "the Python package index"]
    file = "halocline-0.1.0-py3-none-any.whl"
    ways = [
        "uv tool install dist/halocline-*.whl",
        f"pipx install dist/{file}",
        f'uv tool install "halocline[acp] @ file:///x/{file}"',
    ]
    assert [way for way in ways if trusting_lines(index["trusts"], way)] == []
