"""No text that reaches the model has the name of a hidden file, whoever makes it: the gate's tools or the prompt."""

import subprocess

import msgspec
import pytest

from halocline.protocol.events import ToolCallEnded
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
}
LISTS = (
    *(
        "ls -R",
        "ls src",
        "find . -type f",
        "tree",
        "du -a",
        "fd -H .",
        "rg --files",
        "grep -rl zq7 .",
        "grep -rc zq7 .",
    ),
    *("git status", "git status --short --ignored", "git status --porcelain=v2 -uall", "(cd src && git status)"),
    *("git ls-files", "git ls-files -s src", "git ls-files -mo --exclude-standard", "git ls-tree -r --name-only HEAD"),
    *(
        "git ls-tree --name-only -r HEAD src/",
        "git diff --stat",
        "git diff --name-only HEAD~1",
        "git diff --summary HEAD~1",
    ),
    *(
        "git diff --name-status HEAD~1 HEAD",
        "git diff --dirstat HEAD~1",
        "git diff-tree -r HEAD",
        "git diff-index HEAD",
    ),
    *("git diff-files", "git log --stat", "git log --name-only --oneline", "git log -p --raw", "git log --stat -- src"),
    *("git show --stat", "git show --name-status HEAD~1", "git whatchanged", "git reflog --stat", "git stash show"),
    *(
        "git grep -l zq7",
        "git grep -c zq7 HEAD",
        "git diff",
        "git log -p",
        "for f in $(git ls-files); do wc -l $f; done",
    ),
)
"""Commands that list names of files, or show them with what they read."""
MAY_LIST = (
    *(
        "git ls-tree HEAD",
        "git ls-tree -r HEAD src",
        "git rev-list --objects HEAD",
        "git show HEAD:src",
        "git show HEAD:",
    ),
    *("git show HEAD^{tree}", "git cat-file -p HEAD^{tree}", "git cat-file -p HEAD:src", "git stash list --stat"),
    *("git diff --no-index --stat src .", "git log --follow --name-only src", "git archive HEAD", "tar -cf - src"),
)
"""Commands without a form that leaves out names."""
LEFT_OUT = "left out: what an ignore file or a rule hides"
ASKED = "src/asked-one.txt, as a rule asks first where it is named"


@pytest.fixture
def project(journey):
    for place in (*PLACES, "src/open.py"):
        journey.write(place, "zq7 = 1\n")
    journey.write(".clineignore", "veiled/\n*.hid\n")
    journey.home.policy.write_text('[[rule]]\nname = "d"\ndecision = "deny"\npaths = ["**/denied-one.txt"]\n')
    run_git(journey, ["init", "-q"], ["add", "src/open.py"], ["commit", "-qm", "Start"], ["add", "-A"])
    return journey


def run_git(journey, *commands: list[str]) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", journey.workspace]
    for words in commands:
        subprocess.run([*git, *words], check=True)


@pytest.fixture
def history(project):
    """Versions of hidden files, one deleted, one in a stash, and one that a rule asks about."""
    with project.home.policy.open("a") as policy:
        policy.write('[[rule]]\nname = "a"\ndecision = "ask"\npaths = ["**/asked-one.txt"]\n')
    places = (*PLACES, "src/open.py", "src/asked-one.txt", "src/gone/plain.hid")
    for text in ("zq7 = 2\n", "zq7 = 3\n"):
        for place in places:
            project.write(place, text)
        run_git(project, ["add", "-A"], ["commit", "-qm", "Go on"])
    for place in places[:-1]:
        project.write(place, "zq7 = 4\n")
    run_git(project, ["stash", "-q"], ["rm", "-qr", "src/gone"])
    for place in places[:-1]:
        project.write(place, "zq7 = 5\n")
    project.write("src/new.hid", "zq7\n")
    return project


async def run_commands(journey, *commands: str) -> list[str]:
    """Run commands in ask mode, and return their results."""
    calls = tuple(Call("execute_command", {"command": one}, id=f"c{at}") for at, one in enumerate(commands))
    options = TaskOptions(approval_mode=ApprovalMode.ASK, attended=False)
    await journey.run(*(Turn(calls=(call,)) for call in calls), Turn(text="done"), options=options)
    ends = {event.call: event.result for event in journey.events if isinstance(event, ToolCallEnded)}
    return ["".join(part.text for part in ends[call.id].content) for call in calls]


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


@pytest.mark.slow
@pytest.mark.process
async def test_commands_that_list_names_leave_hidden_ones_out_and_say_so(history):
    results = {}
    for at in range(0, len(LISTS), 4):
        few = LISTS[at : at + 4]
        results |= dict(zip(few, await run_commands(history, *few), strict=True))
    told = {command: text for command, text in results.items() if any(name in text for name in (*HIDDEN, "new.hid"))}
    assert told == {}
    assert [command for command, text in results.items() if LEFT_OUT not in text and ASKED not in text] == []


@pytest.mark.slow
@pytest.mark.process
async def test_commands_that_cannot_leave_names_out_ask(history):
    results = {command: (await run_commands(history, command))[0] for command in MAY_LIST}
    assert [command for command, text in results.items() if "approval" not in text] == []


@pytest.mark.process
async def test_what_a_rule_only_asks_about_is_named_and_not_read(history):
    *lists, grep, search, diff = await run_commands(
        history, "ls src", "find src", "git status", "git ls-files", "grep -r zq7 .", "git grep zq7", "git diff"
    )
    assert all("asked-one.txt" in text and ASKED not in text for text in lists)
    for text in (grep, search, diff):
        assert "asked-one" not in text.replace(ASKED, "")
        assert ASKED in text


@pytest.mark.process
async def test_no_other_name_of_a_hidden_file_is_suggested_or_listed(project):
    (project.workspace / "hard.txt").hardlink_to(project.workspace / "plain.hid")
    look = Call("list_files", {"path": "."}, id="c1")
    await project.run(Turn(calls=(look,)), Turn(text="done"), prompt="look at @hard.txt and @harp.txt")
    given = [one for one in project.state.messages if not isinstance(one, AssistantMessage)]
    text = msgspec.json.encode(given).decode()
    assert "@hard.txt: not found" in text
    assert "hard.txt" not in text.replace("@hard.txt", "")
