"""No text that reaches the model has the name of a hidden file, whoever makes it: the gate's tools or the prompt."""

import subprocess

import msgspec
import pytest

from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import AssistantMessage
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

HIDDEN = ("veiled", "inner-note", "plain.hid", "denied-one")
PLACES = ("src/veiled/inner-note.txt", "src/plain.hid", "src/denied-one.txt", "plain.hid")
LOOKS = {
    "list_files": {"path": ".", "recursive": True},
    "list_files by name": {"path": ".", "pattern": "*e*"},
    "search_files": {"path": ".", "regex": "zq7"},
    "search_files for nothing": {"path": ".", "regex": "absent"},
    "read_file of a name nearby": {"path": "src/plan.hid"},
    "read_file of a folder": {"path": "src/veild/inner.txt"},
    "list_code_definition_names": {"path": "src"},
    "execute_command find": {"command": "find . -type f", "requires_approval": False},
    "execute_command ls": {"command": "ls -R", "requires_approval": False},
}


@pytest.fixture
def project(journey):
    for place in (*PLACES, "src/open.py"):
        journey.write(place, "zq7 = 1\n")
    journey.write(".clineignore", "veiled/\n*.hid\n")
    journey.home.policy.write_text('[[rule]]\nname = "d"\ndecision = "deny"\npaths = ["**/denied-one.txt"]\n')
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", journey.workspace]
    for words in (["init", "-q"], ["add", "src/open.py"], ["commit", "-qm", "Start"], ["add", "-A"]):
        subprocess.run([*git, *words], check=True)
    return journey


def names_told(journey) -> list[str]:
    """The hidden names in what the model was given: the system prompt, prompts, their notes, and results."""
    given = [one for one in journey.state.messages if not isinstance(one, AssistantMessage)]
    assert given
    text = journey.state.prompt.system + msgspec.json.encode(given).decode()
    return [name for name in HIDDEN if name in text]


@pytest.mark.process
@pytest.mark.parametrize("look", [*LOOKS, "@src", "@git-changes", "the first prompt alone"])
async def test_no_hidden_name_is_told(project, look: str):
    tool = look.split(" ")[0]
    call = Call(tool, LOOKS[look], id="c1") if look in LOOKS else None
    turns = [Turn(calls=(call,))] if call else []
    prompt = f"look {look}" if look[0] == "@" else "look"
    await project.run(*turns, Turn(text="done"), prompt=prompt, options=TaskOptions(approval_mode=ApprovalMode.ASK))
    assert names_told(project) == []
