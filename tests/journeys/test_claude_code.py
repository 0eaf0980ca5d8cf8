"""The real Claude Code on the same folder: what it lists and what a command becomes is what Halocline makes of it.

It needs no model: our model server stands in, and its requests say what it found. Without the program (`claude` on the
PATH, or named by HALOCLINE_CLAUDE_CODE) these tests are skipped.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.servers.model_server import ModelServer

from halocline.context.user_files.agents import found_agents
from halocline.context.user_files.skills import found_skills
from halocline.protocol import events as ev
from halocline.protocol.messages import Note
from halocline.providers.scripted.model import Turn

CLAUDE = os.environ.get("HALOCLINE_CLAUDE_CODE") or shutil.which("claude")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.skipif(not CLAUDE, reason="Claude Code is not installed: npm install -g @anthropic-ai/claude-code"),
]
OK = Turn(text="ok")
ARGUMENTS = "alpha beta"
COMMAND = "all=[$ARGUMENTS] zero=[$0] one=[$1] two=[$2] at=[$ARGUMENTS[1]] See @src/main.py and @missing/file.py."
SKILLS = {
    "plain": "---\nname: plain\ndescription: About plain.\n---\nDo.\n",
    "unnamed": "---\ndescription: Has no name.\n---\nDo.\n",
    "renamed": '---\nname: other\ndescription: "Use when: quoted"\n---\nDo.\n',
    "colon": "---\nname: colon\ndescription: Use when: not quoted\n---\nDo.\n",
    "headless": "The first paragraph.\n\nMore.\n",
    "hidden": "---\nname: hidden\ndescription: Only for people.\ndisable-model-invocation: true\n---\nDo.\n",
}
AGENTS = {
    "team/reviewer": "---\nname: reviewer\ndescription: 'Use for: \"quotes\"'\ntools: Read\n---\nYou review.\n",
    "nameless": "---\ndescription: Has no name.\n---\nYou review.\n",
    "undescribed": "---\nname: undescribed\n---\nYou review.\n",
}


def fill(folder: Path) -> None:
    files = {f".claude/skills/{name}/SKILL.md": text for name, text in SKILLS.items()}
    files |= {f".claude/agents/{name}.md": text for name, text in AGENTS.items()}
    files |= {
        ".claude/commands/fe/show.md": f"---\ndescription: Shows.\n---\n{COMMAND}\n",
        "src/main.py": "print('x')\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)


async def ask_claude(folder: Path, home: Path, prompt: str) -> str:
    """Return all that its requests say."""
    home.mkdir(exist_ok=True)
    async with ModelServer([OK] * 20) as server:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": server.url("anthropic").removesuffix("/v1"),
            "ANTHROPIC_API_KEY": "key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        pipes = {"stdin": asyncio.subprocess.DEVNULL, "stdout": asyncio.subprocess.PIPE}
        program = await asyncio.create_subprocess_exec(str(CLAUDE), "-p", prompt, cwd=folder, env=env, **pipes)
        await asyncio.wait_for(program.communicate(), 120)
        return "\n".join(text for request in server.requests if request.raw for text in _texts(request.body))


def _texts(value) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for one in value for text in _texts(one)]
        case dict():
            return [text for one in value.values() for text in _texts(one)]
    return []


def listed(said: str, names) -> dict[str, str]:
    """Return the names of ours in its lists, each with its description."""
    lines = re.findall(r"^- ([\w:-]+): (.*?)(?: \(Tools: .*)?$", said, re.MULTILINE)
    return {name: about for name, about in lines if name in names}


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    return tmp_path / "person"


async def test_the_same_folder_gives_the_same_skills_agents_and_command(journey, home):
    fill(journey.workspace)
    said = await ask_claude(journey.workspace, home, f"/fe:show {ARGUMENTS}")
    assert said, "it asked nothing"
    skills = {one.name: one.description for one in found_skills(journey.workspace, home).offered}
    assert listed(said, {*SKILLS, "other"}) == skills
    agents = {one.name: one.description for one in found_agents(journey.workspace, home / "own", home).agents}
    assert listed(said, {"reviewer", "nameless", "undescribed"}) == agents

    await journey.run(Turn(text="done", expect="print('x')"), prompt=f"/fe:show {ARGUMENTS}")
    (begun,) = journey.of(ev.TurnStarted)
    (note,) = (part for part in begun.content if isinstance(part, Note) and part.source == "command")
    assert note.text.splitlines()[-1] in said
    assert json.dumps("print('x')")[1:-1] in said
    given = [part.text for event in journey.of(ev.MentionsResolved) for part in event.content]
    assert any(text.startswith("src/main.py: 11 bytes") for text in given)
