"""Wherever a file steers Halocline or what it runs, there may be a pipe, a device, a socket or a folder instead."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.journeys.conftest import LONGEST
from tests.once_per_run import once_per_run
from tests.samples import SAMPLED

from halocline.protocol.config_locations import OBEYED, OBEYED_AT_HOME, RULE_ROWS
from halocline.protocol.permission_rules import IGNORE_FILES
from halocline.store.paths import PROJECT_RULES

pytestmark = pytest.mark.slow

IN_FOLDERS = (
    *(".clinerules/a.md", ".clinerules/hooks/PreToolUse", ".clinerules/hooks/PostToolUse.sh"),
    *(".clinerules/workflows/a.md", ".claude/commands/a.md", ".claude/skills/a/SKILL.md", ".halocline/agents/a.md"),
    *(".cursor/rules/a.mdc", ".github/instructions/a.instructions.md", ".claude/rules/a.md"),
)
OF_PROGRAMS = (
    *(".gitignore", ".gitattributes", ".ignore", ".rgignore", "sub/.gitignore", "sub/.gitattributes", "sub/.ignore"),
    *(".git/info/exclude", ".git/info/attributes", ".git/config", ".git/index", ".git/packed-refs", ".git/commondir"),
)
OWN = (
    "AGENTS.md",
    "rules/a.md",
    "policy.toml",
    "grants.toml",
    "mcp.json",
    "agents/a.md",
    "workflows/a.md",
    "trust.json",
)
AT_HOME = (".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes")
PLACES = (
    *OBEYED,
    *(*IGNORE_FILES, PROJECT_RULES, ".halocline/memory.md", "sub/AGENTS.md"),
    *IN_FOLDERS,
    *OF_PROGRAMS,
    *(f"~/{name}" for name in (*OBEYED_AT_HOME, *AT_HOME)),
    *(f"~/.halocline/{name}" for name in OWN),
)
AT_ONCE = 6
ROOT = Path(__file__).parents[2]
TOLD = (
    *(row.path for row in RULE_ROWS if not row.root),
    *(*IGNORE_FILES, PROJECT_RULES, ".mcp.json", ".halocline/mcp.json"),
    *(".gitignore", ".ignore", ".rgignore", "sub/.gitignore", ".git/info/exclude"),
    *(".clinerules/a.md", ".halocline/agents/a.md"),
    *("~/.gitconfig", "~/.claude/CLAUDE.md", "~/.halocline/policy.toml", "~/.halocline/mcp.json"),
)
"""Those of which a person hears when a task starts or does something."""
PIPES = tuple(place for at, place in enumerate(PLACES) if not SAMPLED or at % 4 == 0 or place in TOLD)
"""Each has a task of its own."""


@pytest.fixture(scope="module")
def said_of_pipes(tmp_path_factory):
    return once_per_run(tmp_path_factory, "pipes", play_pipes)


@pytest.mark.parametrize("place", PIPES)
def test_a_pipe_hangs_no_task(said_of_pipes, place):
    assert place in said_of_pipes
    assert len(said_of_pipes[place]["ends"]) >= 3


@pytest.mark.parametrize("place", TOLD)
def test_a_person_reads_which_file_is_a_pipe_and_what_to_do(said_of_pipes, place):
    said = [text for text in said_of_pipes[place]["said"] if "is a named pipe, not a regular file" in text]
    assert any(place.removeprefix("~/.halocline/").removeprefix("~/") in text for text in said)
    assert all("move it away or delete it" in text for text in said)


@pytest.mark.parametrize("kind", ["link to a pipe", "link to a device", "folder", "socket"])
def test_nothing_else_in_the_place_of_a_file_hangs_a_task(tmp_path, kind):
    found = play(tmp_path, kind, PLACES)
    assert [len(said["ends"]) >= 3 for said in found.values()] == [True, True, True]


def play_pipes(folder):
    some = [PIPES[at::AT_ONCE] for at in range(AT_ONCE)]
    folders = [folder / str(at) for at in range(AT_ONCE)]
    for one in folders:
        one.mkdir()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = pool.map(play, folders, ["pipe"] * AT_ONCE, some)
        return {place: said for one in found for place, said in one.items()}


def play(folder, kind, places):
    """What was said of each place, as far as the tasks came: one that hangs is the last of its process."""
    command = [sys.executable, "-m", "tests.journeys.special_files", str(folder), kind, *places]
    try:
        played = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=LONGEST * 4, check=False)
    except subprocess.TimeoutExpired as hung:
        lines = (hung.stdout or b"").splitlines()
    else:
        lines = played.stdout.splitlines()
        assert not played.returncode, played.stderr.decode()
    pairs = zip(map(json.loads, lines[::2]), map(json.loads, lines[1::2]), strict=False)
    return {places[0]: said for places, said in pairs}
