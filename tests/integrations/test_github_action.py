"""The action for GitHub: its workflows are read, and the steps that they name are run, with a scripted model.

Only GitHub itself is missing: checking out is done by the test, and `gh` is a program that writes down its arguments.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.surfaces.cli.halo_process import Halo, call, shell

pytestmark = [pytest.mark.process, pytest.mark.slow]
ACTION = Path(__file__).parents[2] / "integrations" / "github"
OURS = "OWNER/REPOSITORY/integrations/github@COMMIT"
BROKEN = "import unittest\n\nclass T(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 1, 3)\n"
BATCH = """#!/bin/sh
[ "$1" = batch ] || exit 0
printf '%s\\n' "$@" >> "$CALLS"
echo "1 of 2"
exit 1
"""
"""A batch in which an item failed."""
GH = '#!/bin/sh\necho "$@" >> "$CALLS"\n'


class Runner:
    """Runs the steps of a workflow's job as GitHub's runner does. `github` is the context of expressions."""

    def __init__(self, root: Path, folder: Path, env: Mapping[str, str], github: Mapping[str, str]) -> None:
        self.root, self.folder, self.github = root, folder, github
        self.outputs: dict[str, dict[str, str]] = {}
        self.log = ""
        self.summary = root / "summary.md"
        self.summary.touch()
        (root / "temp").mkdir()
        self.env = {**env, "RUNNER_TEMP": str(root / "temp"), "GITHUB_RUN_ID": "7", "CALLS": str(root / "calls")}

    def run_job(self, workflow: str, **given: str) -> bool:
        """Run the only job of a workflow; `given` are inputs instead of those that it has for the action."""
        (job,) = yaml.safe_load((ACTION / "examples" / workflow).read_text())["jobs"].values()
        return all(self.run_step(step, {}, given) for step in job["steps"])

    def run_step(self, step: Mapping[str, Any], inputs: Mapping[str, str], given: Mapping[str, str]) -> bool:
        if "if" in step and not self.holds(step["if"]):
            return True
        uses = step.get("uses", "")
        if uses.startswith("actions/checkout@"):
            return True
        env = {name: self.fill(value, inputs) for name, value in step.get("env", {}).items()}
        if uses:
            assert uses == OURS
            return self.run_action(step, env, {**{key: self.fill(str(v)) for key, v in step["with"].items()}, **given})
        place = self.folder / self.fill(step.get("working-directory", "."), inputs)
        return self.run_script(step, env, place)

    def run_action(self, step: Mapping[str, Any], env: Mapping[str, str], inputs: Mapping[str, str]) -> bool:
        action = yaml.safe_load((ACTION / "action.yml").read_text())
        assert inputs.keys() <= action["inputs"].keys()
        assert all(name in inputs for name, one in action["inputs"].items() if one.get("required"))
        inputs = {name: one.get("default", "") for name, one in action["inputs"].items()} | dict(inputs)
        outer = self.env
        self.env = {**outer, **env, "GITHUB_ACTION_PATH": str(ACTION)}
        worked = all(self.run_step(inner, inputs, {}) for inner in action["runs"]["steps"])
        self.env = outer
        found = {name: self.fill(one["value"], inputs) for name, one in action["outputs"].items()}
        self.outputs[step["id"]] = found
        return worked

    def run_script(self, step: Mapping[str, Any], env: Mapping[str, str], place: Path) -> bool:
        assert "${{" not in step["run"], "an expression would become part of the script"
        output = self.root / "output"
        output.write_text("")
        files = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.summary)}
        files["GITHUB_PATH"] = str(self.root / "path")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=place,
            env={**self.env, **env, **files},
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        self.log += done.stdout + done.stderr
        lines = (line.partition("=") for line in output.read_text().splitlines())
        self.outputs[step.get("id", "")] = {name: value for name, _, value in lines}
        return done.returncode == 0

    def fill(self, text: str, inputs: Mapping[str, str] = {}) -> str:
        return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: self.value(found[1], inputs), text)

    def value(self, name: str, inputs: Mapping[str, str]) -> str:
        kind, _, rest = name.partition(".")
        if kind == "steps":
            step, _, output = rest.partition(".outputs.")
            return self.outputs.get(step, {}).get(output, "")
        return {"inputs": inputs, "github": self.github, "secrets": {rest: "key"}}[kind][rest]

    def holds(self, condition: str) -> bool:
        name, _, wanted = condition.partition(" == ")
        return self.value(name, {}) == wanted.strip("'")


@pytest.fixture
def runner(halo: Halo) -> Runner:
    programs = halo.root / "bin"
    programs.mkdir()
    (programs / "gh").write_text(GH)
    (programs / "gh").chmod(0o755)
    path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    github = {"token": "t", "base_ref": "main", "event.pull_request.number": "12"}
    env = {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    runner = Runner(halo.root, halo.folder, {**halo.env, **env}, github)
    (halo.folder / ".gitignore").write_text("__pycache__/\n")
    (halo.folder / "test_sum.py").write_text(BROKEN)
    git(runner, "init", "-qb", "main")
    git(runner, "add", ".")
    git(runner, "commit", "-qm", "Start")
    git(runner, "init", "-q", "--bare", str(halo.root / "origin"))
    git(runner, "remote", "add", "origin", str(halo.root / "origin"))
    git(runner, "push", "-q", "origin", "main")
    return runner


def git(runner: Runner, *words: str) -> str:
    words = ("git", "-C", str(runner.folder), *words)
    return subprocess.run(words, env=runner.env, check=True, capture_output=True, text=True).stdout


def repair(old: str, new: str) -> dict[str, Any]:
    block = f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE"
    return {"call": [call("replace_in_file", path="test_sum.py", diff=block)]}


def calls(runner: Runner) -> list[str]:
    path = Path(runner.env["CALLS"])
    return path.read_text().splitlines() if path.exists() else []


def test_a_failing_build_is_fixed_and_proposed(halo: Halo, runner: Runner) -> None:
    right = repair("        self.assertEqual(1 + 1, 3)", "        self.assertEqual(1 + 1, 2)")
    model = halo.script(right, {"text": "It was 2."})
    assert runner.run_job("fix-build.yml", model=model), runner.log
    assert runner.outputs["agent"]["changed"] == "true"
    assert "1 + 1, 2" in git(runner, "show", "origin/halocline/fix-7:test_sum.py")
    answer = runner.outputs["agent"]["answer-file"]
    assert calls(runner)[-1] == f"pr create --title Fix the build --body-file {answer}"
    assert Path(answer).read_text() == runner.summary.read_text() == "It was 2.\n"
    assert "AssertionError: 2 != 3" in str(halo.log()[1])


def test_what_the_build_leaves_behind_is_not_committed(halo: Halo, runner: Runner) -> None:
    right = repair("        self.assertEqual(1 + 1, 3)", "        self.assertEqual(1 + 1, 2)")
    model, command = halo.script(right, {"text": "It was 2."}), "date > build.log; python3 -m unittest"
    assert runner.run_job("fix-build.yml", model=model, command=command), runner.log
    assert "build.log" in git(runner, "status", "--short")
    assert git(runner, "show", "--name-only", "--format=", "HEAD").splitlines() == ["test_sum.py"]


def test_a_green_build_in_a_dirty_tree_opens_no_pull_request(halo: Halo, runner: Runner) -> None:
    (runner.folder / "left behind").write_text("x")
    assert runner.run_job("fix-build.yml", command="true", model="nobody/x"), runner.log
    assert (runner.outputs["agent"]["changed"], calls(runner)) == ("false", [])


def test_a_build_that_stays_broken_fails_the_job(halo: Halo, runner: Runner) -> None:
    assert not runner.run_job("fix-build.yml", model=halo.script({"text": "I do not know."}))
    assert "still fails" in runner.log
    assert calls(runner) == []


def test_a_build_that_works_asks_no_model(halo: Halo, runner: Runner) -> None:
    assert runner.run_job("fix-build.yml", command="true", model="nobody/x"), runner.log
    assert (halo.tasks if halo.home.exists() else [], calls(runner)) == ([], [])


def test_a_pull_request_is_read_and_commented_on(halo: Halo, runner: Runner) -> None:
    git(runner, "switch", "-qc", "feature")
    (runner.folder / "new.py").write_text("x = 1\n")
    git(runner, "add", ".")
    git(runner, "commit", "-qm", "Add x")
    looks = {"call": [shell("git diff origin/main HEAD"), call("write_to_file", path="evil", content="x")]}
    assert runner.run_job("review-pull-request.yml", model=halo.script(looks, {"text": "No bugs."})), runner.log
    assert calls(runner) == [f"pr comment 12 --body-file {runner.outputs['agent']['answer-file']}"]
    assert "No bugs." in runner.summary.read_text()
    assert not (runner.folder / "evil").exists()
    assert runner.outputs["agent"]["changed"] == "false"
    assert "+x = 1" in str([event for event in halo.log() if type(event).__name__ == "ToolCallEnded"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"task": "nope"}, "Unknown task"),
        ({"task": "fix", "command": ""}, "needs the input command"),
        ({"task": "review", "base": ""}, "needs the input base"),
        ({"task": "review", "base": "origin/nothing"}, "::error::There is no commit that origin/nothing"),
        ({"task": "prompt"}, "needs the input prompt"),
        ({"task": "batch"}, "needs the input batch-file"),
        ({"task": "batch", "batch-file": "nowhere.jsonl"}, "needs the input batch-file"),
        ({"task": "prompt", "prompt": "hi", "model": "nobody/x"}, "exit code 2"),
        ({"task": "review", "base": "main", "model": "nobody/x"}, "exit code 2"),
    ],
)
def test_a_wrong_input_fails_the_job(runner: Runner, given: dict[str, str], said: str) -> None:
    assert not runner.run_job("fix-build.yml", **given)
    assert said in runner.log


def test_a_batch_file_is_run_with_the_limits_of_the_job_and_its_report_is_an_output(halo: Halo, runner: Runner) -> None:
    (runner.folder / "tasks.jsonl").write_text("{}\n")
    program = halo.root / "bin" / "halo"
    program.write_text(BATCH)
    program.chmod(0o755)
    given = {"task": "batch", "batch-file": "tasks.jsonl", "batch-jobs": "3", "model": "a/b", "max-cost": "5"}
    assert not runner.run_job("fix-build.yml", **given)
    assert "The batch ended with exit code 1." in runner.log
    report = runner.outputs["agent"]["report-file"]
    options = ("-j", "3", "--time-limit", "1200", "--approval-mode", "auto", "-m", "a/b", "--max-total-cost", "5")
    words = ["batch", *options, "--name", "github-7", "--report", report, "--", "tasks.jsonl"]
    assert calls(runner)[-len(words) :] == words
    assert runner.summary.read_text() == "1 of 2\n"


def test_a_prompt_that_looks_like_an_option_is_a_prompt(halo: Halo, runner: Runner) -> None:
    model = halo.script({"text": "Done."})
    assert runner.run_job("fix-build.yml", task="prompt", prompt="--help", model=model), runner.log
    assert runner.summary.read_text() == "Done.\n"


def test_the_action_installs_its_own_commit_and_asks_for_no_package_by_our_name() -> None:
    script = (ACTION / "install.sh").read_text()
    assert "pip install" not in script
    assert (ACTION / ".." / ".." / "scripts" / "install.py").exists()
    assert (ACTION / ".." / ".." / "run.lock").exists()


def test_what_is_asked_for_is_text_and_no_script(halo: Halo, runner: Runner) -> None:
    prompt = f'"; touch {halo.root}/hacked; $(touch {halo.root}/hacked) `touch {halo.root}/hacked`'
    assert runner.run_job("fix-build.yml", task="prompt", prompt=prompt, model=halo.script({"text": "Done."}))
    assert not (halo.root / "hacked").exists()
