"""What policy hides is not readable in the sandbox: at any depth, in each folder of a task, by whatever name.

Landlock cannot hide files in a folder that may be written, which `halo doctor` says.
"""

import os

import pytest
from tests.journeys.conftest import NO_SERVERS
from tests.journeys.test_standings import MachineWith, is_there, run

from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.providers.scripted.model import Turn
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

HIDDEN = {
    "ignored file": "{depth}/notes.hid",
    "ignored folder": "{depth}/veiled/below/plain.txt",
    "denied": "{depth}/deny-me.txt",
    "asked": "{depth}/ask-me.txt",
    "secret": "{depth}/.env",
    "key": "{depth}/id_rsa",
}
"""Names of hidden files, by what hides them."""
DEPTHS = {0: ".", 1: "a", 2: "a/b", 6: "a/b/c/d/e/f"}
RULES = """
[[rule]]
name = "denied"
decision = "deny"
paths = ["deny-me.txt"]

[[rule]]
name = "asked"
decision = "ask"
paths = ["ask-me.txt"]
"""
READERS = {
    "python": "python3 ../project/walk.py",
    "grep": "grep -ra zq7 .",
    "tar": "tar cf /tmp/all.tar . ; strings -a /tmp/all.tar || cat /tmp/all.tar",
    "symlink": "cat links/soft-*",
    "new symlink": 'find . -type f | while read f; do ln -sf "$PWD/$f" links/new; cat links/new; done',
    "hard link": "cat links/hard-*",
    "new hard link": 'find . -type f | while read f; do ln -f "$f" links/new2; cat links/new2; done',
    "copy": "cp -r . /tmp/copy; cat $(find /tmp/copy -type f)",
    "renamed parent": "mv a moved; grep -ra zq7 moved; mv moved/b moved/other; grep -ra zq7 .",
}
WALK = """
import os
for folder, _, names in os.walk("."):
    for name in names:
        try: print(open(os.path.join(folder, name), errors="replace").read())
        except OSError as error: print(error)
"""


def fill(root, which):
    """Write each hidden file at each depth, with links to it, and a plain file beside it that must stay readable."""
    (root / "links").mkdir(parents=True)
    for why, name in HIDDEN.items():
        for depth, place in DEPTHS.items():
            path = root / name.format(depth=place)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"zq7 {which}, {why}, depth {depth} 7qz\n")
            key = f"{why.replace(' ', '-')}-{depth}"
            (root / "links" / f"soft-{key}").symlink_to(path)
            os.link(path, root / "links" / f"hard-{key}")
    for place in DEPTHS.values():
        (root / place / "open.txt").write_text(f"open in {which} at {place}\n")
    (root / ".clineignore").write_text("*.hid\nveiled/\n")
    (root / "walk.py").write_text(WALK)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("reader", READERS)
async def test_nothing_hidden_is_printed_in_the_sandbox(journey, tmp_path, reader):
    if not is_there("bubblewrap", tmp_path):
        pytest.skip("this machine has no bubblewrap")
    other = tmp_path / "other"
    fill(journey.workspace, "first folder")
    fill(other, "second folder")
    journey.home.root.mkdir(exist_ok=True)
    (journey.home.root / "policy.toml").write_text(RULES)
    for which, root in (("here.sh", journey.workspace), ("there.sh", other)):
        journey.write(which, f"cd {root}\n{READERS[reader]}\n")
    said = await play(journey, ["sh here.sh", "sh there.sh"], other)
    shown = sorted({line[line.index("zq7") :] for text in said for line in text.splitlines() if "7qz" in line})
    assert shown == []
    if reader == "python":
        assert ["open in first folder at a/b" in said[0], "open in second folder at a/b" in said[1]] == [True, True]


@pytest.mark.process
@pytest.mark.parametrize("folder", ["top", "top/in"])
async def test_a_folder_above_what_a_place_hides_is_not_renamed_for_the_next_command(journey, tmp_path, folder):
    if not is_there("bubblewrap", tmp_path):
        pytest.skip("this machine has no bubblewrap")
    journey.write(".clineignore", "/top/in/hid/\n")
    journey.write("top/in/hid/notes.txt", "zq7 hidden 7qz\n")
    other = tmp_path / "other"
    other.mkdir()
    renames = f"import os; os.rename('{folder}', 'bottom')"
    said = await play(journey, [f'python3 -c "{renames}"', "sh -c 'cat $(find . -type f)'"], other)
    assert "7qz" not in "".join(said)
    assert (journey.workspace / "top" / "in" / "hid" / "notes.txt").exists()


async def play(journey, commands, other):
    """Run the commands in one task, without questions, and return what each printed."""
    turns = [Turn(calls=(run(f"c{n}", one),)) for n, one in enumerate(commands)]
    settings = Settings(sandbox="auto", language_servers=NO_SERVERS)
    env = {"PATH": os.environ["PATH"], "HOME": str(journey.workspace.parent)}
    assembly = MachineWith(journey.home, settings, (*turns, Turn(text="done")), env)
    assembly.backend = "bubblewrap"
    options = TaskOptions(approval_mode=ApprovalMode.YOLO, attended=False, roots=(str(other),))
    journey.longest = 120.0
    await journey.run(client=Client(Controller(assembly), "test"), options=options)
    said = {one.call: str(one.result) for one in journey.events if isinstance(one, ev.ToolCallEnded)}
    return [said[f"c{n}"].replace("\\n", "\n") for n in range(len(commands))]
