"""The examples, each as a person would start it, with a scripted model as the one that is set up."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import halocline
from halocline.client.options import Choices
from halocline.client.prompts import SlashPlace
from halocline.client.tasks import open_client
from halocline.protocol import events as ev
from halocline.testing import Call, Turn, calls_of, replay

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
SCRIPTS = Path(__file__).with_name("scripts")
EXAMPLES = sorted(FOLDER.glob("[0-9]*.py"))
LONGEST = 60
KEPT = "Notes are kept: archive a file instead."

PRINTED = {
    "01_hello": ["It holds a small library for statistics."],
    "02_stream": [
        "I look. ",
        "  > List .",
        "  < completed",
        "A library for statistics.",
        "Statistics. after 3 requests",
    ],
    "03_approve": ["refused: rm stats.py", "docs/notes.md: +1 -0", "I wrote docs/notes.md and left the rest."],
    "04_tool": ["A pear costs 0.70 euros; it is in prices.txt."],
    "05_hooks": ["ran list_files", "I committed it; please push."],
    "06_result": ["stats.py:2: divides by one too many"],
    "07_batch": ["one: 1 files, The mean is right now.", "nowhere: failed: The folder "],
    "08_review": ["::error file=stats.py,line=2::The mean is wrong."],
    "13_notebook": ["The mean.", "The mean."],
    "14_host": ["Signed.", "Dear customer,", "Yours"],
    "09_past": ["short: Shortened.", "long: Shortened.", "restored: notes.txt", "3 prompts in the record"],
}
"""Parts of what each prints, in order."""
ARGUMENTS = {"07_batch": ["one", "nowhere"]}
ENDS = {"08_review": 1}
"""Exit codes other than 0."""


@pytest.fixture
def project(workspace, monkeypatch):
    """A folder with a small project, in which the example is started."""
    bug = "def mean(values):\n    return sum(values) / (len(values) + 1)\n"
    for name, text in {"stats.py": bug, "notes.txt": "One line.\n", "prices.txt": "", "one/stats.py": bug}.items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(text)
    monkeypatch.chdir(workspace)
    return workspace


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTED)
def test_an_example_does_what_it_says(name, project, halocline_home, monkeypatch, capsys):
    settings = halocline_home / "settings.toml"
    settings.write_text(f'model = "scripted/{SCRIPTS / name}.toml"\n{settings.read_text()}')
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *ARGUMENTS.get(name, [])])
    code = 0
    try:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    except SystemExit as ended:
        code = int(ended.code or 0)
    printed = capsys.readouterr().out
    assert code == ENDS.get(name, 0)
    assert re.search(".*".join(map(re.escape, PRINTED[name])), printed, re.DOTALL), printed


@pytest.mark.slow
@pytest.mark.process
def test_the_example_of_a_test_passes_in_a_project_of_its_own(tmp_path):
    shutil.copy(FOLDER / "10_test.py", tmp_path / "test_example.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "1 passed" in ran.stdout, ran.stdout


@pytest.mark.slow
async def test_the_web_service_streams_the_answer_of_a_task(project, halocline_home):
    settings = halocline_home / "settings.toml"
    settings.write_text(f'model = "scripted/{SCRIPTS / "11_web"}.toml"\n{settings.read_text()}')
    app = runpy.run_path(str(FOLDER / "11_web.py"))["app"]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        assert (await client.post("/ask", content="What does it compute?")).text == "The mean."


def test_every_example_is_listed_and_has_a_test_or_is_one():
    listed = re.findall(r"^\| \[(\w+)\.py\]", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert listed == [path.stem for path in EXAMPLES]
    assert set(listed) == {*PRINTED, "10_test", "11_web"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short(path):
    assert len(path.read_text().splitlines()) <= LONGEST


async def test_the_plugin_works_as_a_whole(project, halocline_home, scripted):
    shutil.copytree(FOLDER / "12_plugin", project / ".halocline/plugins/notes")
    (project / "notes.txt").write_text("- One.\n- Two.\n")
    calls = [Call("count_notes", {"path": "notes.txt"}), Call("use_skill", {"skill_name": "notes:tidy-notes"})]
    calls.append(Call("execute_command", {"command": "rm notes.txt"}))
    model = scripted(*(Turn(calls=(call,)) for call in calls), "done")
    done = await halocline.run("go", folder=project, model=model, approval_mode="yolo", trusted=True)
    assert [calls_of(done, call.tool)[0].text.splitlines()[0] for call in calls] == [
        "2",
        "# Skill notes:tidy-notes",
        f"Not done. The hook keep_notes-1 (the plug-in notes) says: {KEPT} Nothing was run.",
    ]
    client = open_client(Choices())
    (loaded,) = [event for event in client.past(done.task) if isinstance(event, ev.PluginsLoaded)]
    words = client.words(project, (), loaded.plugins)
    (note,) = words.expanded("/notes:note buy milk", SlashPlace.RUN).notes
    assert "Add this as the first note of notes.txt: buy milk" in note.text
    assert sum(len(path.read_text().splitlines()) for path in (FOLDER / "12_plugin").glob("*.py")) <= LONGEST
    assert await replay(done.task) == ()
