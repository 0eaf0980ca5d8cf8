"""A folder whose repository would run 80 programs is opened in every surface, and none of them runs."""

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.git.hostile import VECTORS, Repository, base, install, together
from tests.surfaces.cli.halo_process import Halo, call, shell
from tests.surfaces.web.page import page, serving

from halocline.surfaces.web.handlers.registry import QUERIES

pytestmark = pytest.mark.slow

LOOKS = (
    *("git status", "git diff", "git log -p -2", "git show", "git diff --submodule=diff", "git blame clean.txt"),
    *("git grep -n two", "git stash list", "git branch -vv", "git describe --all --dirty", "cd sub && git status"),
    *("cd nested && git status", "cd bare && git status", "cd linked && git status", "git ls-files -m"),
)
ALONE = [name for name in VECTORS if VECTORS[name].alone]
ELSEWHERE = {"registry", "registry_plan", "registry_readme", "connection", "sign_in_wait"}
"""They ask the network."""


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    place = Repository(tmp_path_factory.mktemp("pristine"), Path())
    place.folder = place.root / "w"
    base(place)
    return place


@pytest.fixture(params=[together(), *([name] for name in ALONE)], ids=lambda names: f"{names[0]}-{len(names)}")
def hostile(request: pytest.FixtureRequest, pristine: Repository, halo: Halo) -> Repository:
    """The folder of `halo`, which has keys in its environment and a PATH that a project may have changed."""
    halo.folder.rmdir()
    shutil.copytree(pristine.folder, halo.folder, symlinks=True)
    place = Repository(halo.root / "hostile", halo.folder)
    install(place, *request.param)
    place.clear()
    halo.env |= {
        "HOME": place.env["HOME"],
        "ANTHROPIC_API_KEY": "k-1",
        "PATH": f"{halo.folder}/bin:.:{halo.env['PATH']}",
    }
    return place


def prompt(place: Repository) -> str:
    commit = place.git("rev-parse", "--short=10", "HEAD~1")
    return f"Look: @git-changes @problems @terminal @{commit} @merge.txt @sub/ @nested/ explain"


def script(halo: Halo, name: str) -> str:
    calls = [
        *map(shell, LOOKS),
        call("generate_explanation", title="t", from_ref="HEAD"),
        call("generate_explanation", title="t", from_ref="HEAD~1", to_ref="HEAD"),
        call("read_file", path="merge.txt"),
        call("list_files", path=".", recursive=True),
        call("search_files", path=".", regex="two"),
        call("write_to_file", path="made.txt", content="made\n"),
    ]
    # All in one step: a turn ends when several in a row are refused.
    return halo.script({"call": calls}, {"text": "Done."}, name=name)


MODES = (("--mode", "plan"), *(("--approval-mode", mode) for mode in ("ask", "accept-edits")))


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode[1])
async def test_no_task_runs_any_of_it(halo: Halo, hostile: Repository, mode: tuple[str, ...]) -> None:
    done = await halo.run("run", *mode, "-m", script(halo, "task"), prompt(hostile))
    assert hostile.canaries == []
    ends = [event for event in halo.log() if type(event).__name__ == "ToolCallEnded"]
    assert (done.code in (0, 4), len(ends)) == (True, len(LOOKS) + 6)


async def test_no_verb_runs_any_of_it(halo: Halo, hostile: Repository) -> None:
    model = script(halo, "task")
    assert (await halo.run("run", "--approval-mode", "accept-edits", "-m", model, prompt(hostile))).code in (0, 4)
    (task,) = halo.tasks
    (halo.folder / "merge.txt").write_text("later\n")
    verbs: tuple[tuple[str, ...], ...] = (
        *(("doctor",), ("context", task), ("storage",), ("storage", "prune", "--dry-run"), ("rules",), ("memory",)),
        *(("hooks", "list"), ("mcp", "list"), ("mcp", "doctor"), ("trust", "list"), ("models",), ("policy",)),
        *(("policy", "explain", "git status"), ("import", "--list"), ("tasks", "list"), ("tasks", "show", task)),
        *(("checkpoints", "list"), ("checkpoints", "diff", f"{task}/1"), ("checkpoints", "restore", f"{task}/1", "-y")),
        *(("fork", task), ("fork", task, "--files", str(halo.root / "copy"))),
        *(("fork", task, "--worktree", str(halo.root / "tree")), ("export", task), ("todos", task)),
        *(("commit-message", "-m", model), ("commit-message", "--all", "-m", model)),
        *(("run", "-r", task, "-m", halo.script({"text": "Again."}, name="again"), "@git-changes again"),),
    )
    codes = {verb: (await halo.run(*verb)).code for verb in verbs}
    assert hostile.canaries == []
    assert sum(code == 0 for code in codes.values()) > len(verbs) - 6, codes


def arguments(kind: type, given: dict[str, Any]) -> dict[str, Any]:
    """What a query takes, as far as we have it."""
    return {
        field.encode_name: given[field.encode_name]
        for field in msgspec.structs.fields(kind)
        if field.encode_name in given
    }


async def test_nothing_that_a_page_asks_runs_any_of_it(halo: Halo, hostile: Repository) -> None:
    model = halo.script({"call": [call("write_to_file", path="made.txt", content="made\n")]}, {"text": "Done."})
    given: dict[str, Any] = {
        "workspace": str(halo.folder),
        "path": str(halo.folder),
        "text": prompt(hostile),
        "command": "git status",
        "old": 1,
        "to": 3,
        "seq": 2,
        "kind": "claude",
        "query": "x",
        "name": "x",
        "model": model,
        "call": "c",
        "job": "job-1",
        "request": "r",
        "id": "x",
        "provider": "openai",
    }
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, prompt(hostile), model=model, approval_mode="accept-edits")
        await one.turn(task)
        assert hostile.canaries == []
        answered = {}
        for name, query in QUERIES.items():
            if name not in ELSEWHERE:
                answer = await one.answer(
                    "query", name=name, arguments=arguments(query.arguments, given | {"task": task})
                )
                answered[name] = answer["type"] == "answered"
                assert (name, hostile.canaries) == (name, [])
        plan = (await one.ask("commit_plan", task=task))["uncommitted"]
        refused = await one.answer("do", name="commit", arguments={"task": task, "paths": ["made.txt"], "message": "m"})
        for name in ("fork", "restore"):
            await one.answer("do", name=name, arguments={"task": task, "at": 3, "checkpoint": f"{task}/1"})
    assert hostile.canaries == []
    assert [
        name for name in ("git", "commit_plan", "compare", "mentioned", "folders", "points") if not answered[name]
    ] == []
    assert (refused["type"] == "answered") is not bool(plan.get("runs"))
