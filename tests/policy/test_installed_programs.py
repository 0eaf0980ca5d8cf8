import os
import shlex
import subprocess
from itertools import product

import pytest

from halocline.hosts.shell.environment import clean_environment
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.shell.programs.git.read_only import LOOKS
from halocline.policy.shell.programs.mutating import ACTORS
from halocline.policy.shell.programs.tables import READERS
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import OtherRoot

AUTO = ApprovalMode.AUTO
MODES = (
    (ApprovalMode.ASK, Mode.ACT),
    (ApprovalMode.ASK, Mode.PLAN),
    (ApprovalMode.ACCEPT_EDITS, Mode.ACT),
    (AUTO, Mode.ACT),
)
ALONE = (
    *READERS,
    *("pytest", "ruff", "eslint", "make", "npm", "cargo"),
    *("cp", "mv", "ln", "mkdir", "touch", "tee", "env", "timeout", "nice", "time", "xargs", "find", "python3", "bash"),
)
LINES = sorted(
    {
        *ALONE,
        *(f"{name} a.txt" for name in ALONE),
        *(f"git {word}" for word in LOOKS),
        *("git commit -m x", "git switch -c x", "git add a.txt", "git log -3 --oneline", "git show HEAD:a.txt"),
        *("cp a.txt new.txt", "ln a.txt new.txt", "mkdir new", "touch new.txt", "tar cf new.tar a.txt"),
        *("timeout 9 git commit -m x", "env A=1 ls -l", "nice ls", "time cat a.txt", "command git commit -m x"),
        *("find . -name a.txt -exec wc {} +", "find . -name a.txt | xargs wc", "ls | xargs ruff", "sh -c 'git add .'"),
        *("ls && git add a.txt", "cp a.txt git && git commit -m x", "cd sub && wc c.txt", "touch n; wc a.txt | sort"),
        *("f() { git add a.txt; }; f", "for x in 1; do git add a.txt; done", "if true; then ls; fi", "uv run pytest"),
    }
)
NAMES = {
    *(word for line in LINES for word in line.split()[:1]),
    *("git", "ls", "wc", "sort", "cat", "sh", "true", "pytest", "ruff"),
}


@pytest.fixture
def project(tmp_path):
    """A workspace in which, as in another folder of the task, each program of the tables has a namesake."""
    work, other = tmp_path / "w", tmp_path / "other"
    (work / "sub").mkdir(parents=True)
    for name in ("a.txt", "x.py", "sub/c.txt"):
        (work / name).write_text("pass\n")
    for folder in (work, work / "tools", work / "sub" / "node_modules" / ".bin", work / "pyenv" / "bin", other / "bin"):
        folder.mkdir(parents=True, exist_ok=True)
        make_canaries(folder, NAMES - {"sub", "tools"}, tmp_path / "ran")
    (work / "pyenv" / "pyvenv.cfg").write_text("")
    (tmp_path / "link").symlink_to(work / "tools")
    (tmp_path / "links").mkdir()
    for name in NAMES:
        (tmp_path / "links" / name).symlink_to(work / "tools" / name)
    return work


def make_canaries(folder, names, ran):
    for name in names - {".", "/"}:
        (folder / name).write_text(f'#!/bin/sh\necho "{name}" >> {shlex.quote(str(ran))}\n')
        (folder / name).chmod(0o755)


ENTRIES = {
    "empty": "",
    "here": ".",
    "relative": "tools",
    "dotted": "./tools",
    "upwards": "../w/tools",
    "project": "{w}/tools",
    "workspace": "{w}",
    "odd": "{w}/sub/../tools/",
    "link": "{t}/link",
    "links": "{t}/links",
    "another-folder-of-the-task": "{t}/other/bin",
    "outside-but-relative": "../other/bin",
}


def judge(line, work, mode, path, roots=(), changed=""):
    facts = LocalShellFacts({"PATH": path, "HOME": str(work)})
    where = PolicyContext(work, work.parent / "state", mode[1], mode[0], facts=facts, roots=roots, path=changed)
    return decide_call(Summary(line, ToolKind.EXECUTE, command=line), where)


def unasked(work, path, lines=LINES, changed=""):
    """The forms in which lines run that are allowed in some mode, each with whether it is a judged one."""
    other = OtherRoot(str((work.parent / "other").resolve()))
    found = (judge(line, work, mode, path, roots=(other,), changed=changed) for line, mode in product(lines, MODES))
    named = zip((line for line, _ in product(lines, MODES)), found, strict=True)
    return {(d.canonical or line, d.canonical is not None) for line, d in named if d.verdict == "allow"}


def run(forms, work, path):
    """Run each form as it would be run, and tell which canaries ran."""
    for form, judged in forms:
        environment = {"PATH": path, "HOME": str(work), "LC_ALL": "C"}
        environment = clean_environment(environment, str(work)) if judged else environment
        words = ["/bin/bash", "--noprofile", "--norc", "-c", f"ulimit -t 5; {form}"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(words, cwd=work, env=environment, check=False, timeout=60, **quiet)
    ran = work.parent / "ran"
    return ran.read_text().split() if ran.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES.keys())
def test_no_name_of_the_tables_runs_a_file_of_the_project_that_the_path_leads_to(project, entry):
    path = f"{entry.format(w=project, t=project.parent)}:{os.environ['PATH']}"
    assert run(sorted(unasked(project, path)), project, path) == []


@pytest.mark.slow
def test_the_same_lines_run_unasked_where_the_path_leads_elsewhere(project):
    assert len(unasked(project, os.environ["PATH"])) > 250


def test_a_namesake_behind_the_installed_program_is_not_run_and_not_asked_about(project):
    path = f"{os.environ['PATH']}:{project / 'tools'}:."
    lines = ["git log -1", "ls -l && cp a.txt new.txt", "cat a.txt"]
    assert all(judge(line, project, (AUTO, Mode.ACT), path).verdict == "allow" for line in lines)
    assert judge("no-such-tool", project, (AUTO, Mode.ACT), path).verdict == "ask"


@pytest.mark.parametrize("folder", ["sub/node_modules/.bin", "pyenv/bin"])
def test_nothing_runs_unasked_from_where_a_project_keeps_its_tools(project, folder):
    path = f"{project / folder}:{os.environ['PATH']}"
    assert run(sorted(unasked(project, path)), project, path) == []


@pytest.mark.parametrize("line", ["git status", "git commit -m x", "ls", "ls && pytest", "timeout 9 cat a.txt"])
def test_a_path_that_an_earlier_command_set_is_what_the_next_is_judged_by(project, line):
    forms = unasked(project, os.environ["PATH"], [line], changed=f"{project}/tools:{os.environ['PATH']}")
    assert forms == set()


@pytest.mark.parametrize(
    "line",
    ["{}/git log -1", "{}/ls", "{}/cp a.txt b", "{}/timeout 9 ls", "{}/env ls", "{}/bash -c ls"],
)
def test_a_program_outside_is_not_known_by_its_last_name(project, line):
    for place in (project.parent / "links", project.parent / "elsewhere", "~/elsewhere", "../elsewhere"):
        if str(place).endswith("elsewhere"):
            assert unasked(project, os.environ["PATH"], [line.format(place)]) == set(), place
    assert unasked(project, os.environ["PATH"], [line.format("/usr/bin")])


def test_each_actor_of_the_tables_asks_when_the_project_has_its_name(project):
    make_canaries(project / "tools", set(ACTORS), project.parent / "ran")
    path = f"{project}/tools:{os.environ['PATH']}"
    assert unasked(project, path, [f"{name} a.txt new.txt" for name in ACTORS]) == set()
