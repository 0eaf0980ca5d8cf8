"""Nothing of a hostile repository runs, whoever of us asks its git; each way in is shown to be one by plain git."""

import shutil
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.git.hostile import VECTORS, Repository, base, fire, install, together

from halocline.git.commit import commit_files, list_uncommitted
from halocline.git.diffs import changed_files, git_changes, git_commit, git_commits, git_diff, git_standing
from halocline.git.doubts import Doubts
from halocline.git.worktree_changes import read_changes
from halocline.git.worktree_include import copy_included
from halocline.git.worktree_list import Worktree
from halocline.git.worktrees import add_worktree, remove_worktree
from halocline.hosts.shell.environment import clean_environment
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.shell.programs.git.read_only import LOOKS
from halocline.ports.tool import Summary
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import Verdict

FORMS = (
    *(
        "git status",
        "git status --porcelain --ignored -uall",
        "git diff",
        "git diff --stat HEAD",
        "git diff HEAD~1 HEAD",
    ),
    *(
        "git diff --submodule=diff",
        "git diff --submodule=log HEAD~1",
        "git diff --ignore-submodules=none",
        "git diff -p -w",
    ),
    *("git log -p -3", "git log --stat --all", "git log --format=%G?%GS", "git show", "git show --format=%GG HEAD~1"),
    *("git show HEAD:clean.txt", "git blame clean.txt", "git blame textconv.txt", "git annotate merge.txt"),
    *("git grep -n two", "git grep --recurse-submodules s", "git ls-files --recurse-submodules", "git ls-files -m -o"),
    *("git ls-files --eol", "git ls-tree -r HEAD", "git cat-file -p HEAD:smudge.txt", "git describe --all --dirty"),
    *("git describe --always --broken", "git stash list", "git stash show", "git worktree list", "git notes list"),
    *("git branch -vv", "git branch --format='%(signature)'", "git tag -l", "git remote -v", "git remote get-url ex"),
    *("git config --list", "git config core.pager", "git rev-parse HEAD", "git rev-list --all", "git shortlog -s HEAD"),
    *(
        "git reflog",
        "git show-ref",
        "git for-each-ref",
        "git merge-base HEAD side",
        "git name-rev HEAD",
        "git var GIT_EDITOR",
    ),
    *("git count-objects -v", "git check-ignore -v clean.txt", "git diff-tree -p HEAD", "git diff-index -p HEAD"),
    *(
        "git diff-files -p",
        "git symbolic-ref HEAD",
        "git cherry side",
        "git range-diff HEAD~2 HEAD~1 HEAD",
        "git version",
    ),
    *(
        "git whatchanged -2",
        "cd sub && git status",
        "cd nested && git status",
        "cd bare && git status",
        "cd linked && git diff",
    ),
)
AGAINST_THE_FOLDER = [name for name, vector in VECTORS.items() if vector.within or vector.alone or "link" in name]
"""What may depend on where a command runs, or is not in the test of all together."""


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    place = Repository(tmp_path_factory.mktemp("pristine"), Path())
    place.folder = place.root / "w"
    base(place)
    return place


@pytest.fixture
def place(pristine: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    copied = Repository(tmp_path, tmp_path / "w")
    shutil.copytree(pristine.folder, copied.folder, symlinks=True)
    monkeypatch.setenv("HOME", str(copied.env["HOME"]))
    monkeypatch.setenv("SOME_API_KEY", "k-1")
    return copied


@pytest.mark.slow
@pytest.mark.parametrize("name", VECTORS)
def test_plain_git_runs_it(place: Repository, name: str) -> None:
    install(place, name)
    place.clear()
    fire(place, name)
    assert place.canaries == [name]


async def ask_for_everything(place: Repository) -> list[str]:
    """What we ever ask of a repository without a person's word for what it runs; gives what was answered."""
    folder = place.folder
    further = Worktree("further", place.root / "further", "", folder, "")
    (folder / ".worktreeinclude").write_text("*\n")
    asks: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: git_changes(folder),
        lambda: git_changes(folder / "sub"),
        lambda: git_diff(folder, "HEAD"),
        lambda: git_diff(folder, "HEAD~2", "HEAD"),
        lambda: git_commit(folder, "HEAD"),
        lambda: git_commit(folder, "HEAD~1"),
        lambda: git_commits(folder, 20),
        lambda: git_standing(folder),
        lambda: list_uncommitted(folder),
        lambda: changed_files(folder, 5.0),
        lambda: commit_files(folder, ["clean.txt"], "m", place.env, ()),
        lambda: add_worktree(folder, place.root / "further"),
        lambda: copy_included(folder, place.root / "further"),
        lambda: read_changes(further),
        lambda: remove_worktree(further),
        *(lambda name=name: git_changes(folder / name) for name in ("nested", "bare", "linked")),
        *(lambda name=name: git_standing(folder / name) for name in ("nested", "bare", "linked")),
    )
    answered = []
    for ask in asks:
        with suppress(HaloclineError):
            answered.append(str(await ask()))
    return answered


@pytest.mark.parametrize(
    "names", [together(), *([name] for name in VECTORS if VECTORS[name].alone)], ids=lambda n: n[0]
)
async def test_none_of_it_runs_for_us(place: Repository, names: list[str]) -> None:
    install(place, *names)
    place.clear()
    answered = await ask_for_everything(place)
    assert place.canaries == []
    assert len(answered) >= 8
    assert names != together() or "changed since" in answered[0]


def allowed(place: Repository) -> list[str]:
    """The forms in which the model's commands would run unasked."""
    facts = LocalShellFacts(place.env)
    posture = PolicyContext(place.folder, place.root / "state", Mode.ACT, ApprovalMode.ASK, facts=facts)
    judged = [
        decide_call(Summary(form, ToolKind.EXECUTE, command=form), posture) for form in FORMS if form != "git version"
    ]
    return [one.canonical for one in judged if one.verdict is Verdict.ALLOW and one.canonical]


def run_judged(place: Repository, canonical: str) -> None:
    subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", canonical],
        cwd=place.folder,
        env=clean_environment(place.env, str(place.folder)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_the_forms_are_of_every_command_in_the_table() -> None:
    assert {form.split("git ")[1].split()[0] for form in FORMS} >= set(LOOKS)


def doubted(place: Repository) -> bool:
    return bool(Doubts(place.env).of(str(place.folder)))


@pytest.mark.slow
@pytest.mark.parametrize("name", VECTORS)
def test_a_command_of_the_model_runs_none_of_it_unasked(place: Repository, name: str) -> None:
    install(place, name)
    place.clear()
    forms = allowed(place)
    for form in forms if name in AGAINST_THE_FOLDER else forms[:3]:
        run_judged(place, form)
    assert place.canaries == []
    assert any(not form.startswith("cd ") for form in forms) is not doubted(place)


@pytest.mark.slow
def test_what_raises_no_doubt_runs_in_no_form(pristine: Repository, place: Repository, tmp_path: Path) -> None:
    quiet = []
    for name in together():
        one = Repository(tmp_path, tmp_path / "one")
        shutil.copytree(pristine.folder, one.folder, symlinks=True)
        install(one, name)
        quiet += [] if doubted(one) else [name]
        shutil.rmtree(one.folder)
    install(place, *quiet)
    place.clear()
    forms = allowed(place)
    assert (len(quiet) > 30, len(forms) > 50) == (True, True)
    for form in forms:
        run_judged(place, form)
    assert place.canaries == []
