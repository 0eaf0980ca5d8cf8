"""Halocline as an agent in jobs of Harbor's own runner: its trials, verifier and rewards, without containers."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT
from tests.integrations.harbor.jobs import LAST, MODEL, REPAIRS, SEEN, Knowing, Trial, run, run_job, solve, write_task
from tests.servers.model_server import ModelServer
from tests.surfaces.cli.forked import HALO
from tests.surfaces.harbor_set_up import NO_RUNNER, runner
from tests.test_built_wheel import build_wheel

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(runner() is None, reason=NO_RUNNER),
]
AGENT = ("--agent", "halocline_harbor:Halocline")
IN_IMAGE = (*AGENT, "--ak", "skip_install=true")
SOLVED = ("last-page", "leap-days", "quoted-cells")
IDLE = ("first-column", "split-bill")
PARROT = ROOT / "tests/mcp/server.py"
JUDGE = """
import sys
from harbor.utils.trajectory_validator import TrajectoryValidator
for path in sys.argv[1:]:
    judge = TrajectoryValidator()
    assert judge.validate(__import__("pathlib").Path(path)), judge.get_errors()
"""


def choose(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for name in names for word in ("-i", name))


@pytest.fixture(scope="module")
def repaired(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Trial], dict[str, bool]]:
    """A job on five repair tasks, of which the model solves three; and what `halo batch` says of the same."""
    folder = tmp_path_factory.mktemp("repaired")

    async def work() -> tuple[dict[str, Trial], dict[str, bool]]:
        known = Knowing(REPAIRS, {name: (solve(name), LAST) for name in SOLVED})
        async with ModelServer(thinks=known, models=("gpt-5.1",)) as server:
            trials = await run_job(folder, REPAIRS, server, *IN_IMAGE, *choose(SOLVED + IDLE))
            return trials, await run_batch(folder, server)

    return asyncio.run(work())


async def run_batch(folder: Path, server: ModelServer) -> dict[str, bool]:
    report = folder / "report.json"
    chosen = [word for name in SOLVED + IDLE for word in ("--only", name)]
    words = ("batch", REPAIRS, *chosen, "-m", MODEL, "--base-url", server.url("openai"), "-y", "--report", report)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "OPENAI_API_KEY": "sk-of-the-test"}
    process = await asyncio.create_subprocess_exec(*HALO, *map(str, words), env=env, cwd=folder)
    assert await process.wait() == 1, "some do not pass"
    lines = json.loads(report.read_text())["lines"]
    return {line["id"]: line["outcome"]["ending"] == "passed" for line in lines}


def test_a_solution_gets_the_reward_and_doing_nothing_does_not(repaired):
    trials, _ = repaired
    rewards = {name: (trial.reward, trial.error) for name, trial in trials.items()}
    assert rewards == dict.fromkeys(SOLVED, (1.0, None)) | dict.fromkeys(IDLE, (0.0, None))


def test_a_batch_says_of_each_task_what_harbor_does(repaired):
    trials, batch = repaired
    assert batch == {name: trial.reward == 1.0 for name, trial in trials.items()}


def test_harbors_judge_takes_each_trajectory_and_its_figures_are_harbors(repaired):
    trials, _ = repaired
    files = [trial.folder / "agent" / "trajectory.json" for trial in trials.values()]
    judged = subprocess.run([str(runner()), "-c", JUDGE, *files], capture_output=True, text=True)
    assert judged.returncode == 0, judged.stderr
    for name, trial in trials.items():
        told = trial.result["agent_result"]
        figures = [told[key] for key in ("n_input_tokens", "n_cache_tokens", "n_output_tokens")]
        assert figures == ([300, 0, 30] if name in SOLVED else [200, 0, 10])
        assert told["cost_usd"] > 0
        assert (told["metadata"]["stop_reason"], told["metadata"]["exit_code"]) == ("end_turn", 0)
        assert trial.result["agent_info"]["name"] == "halocline"
        assert trial.result["agent_info"]["version"] != "unknown"


def test_no_key_is_in_what_a_trial_leaves(repaired):
    trials, _ = repaired
    for trial in trials.values():
        texts = [path.read_bytes() for path in trial.folder.rglob("*") if path.is_file() and not path.is_symlink()]
        assert texts
        assert not any(b"sk-of-the-test" in text for text in texts)


async def test_a_run_that_harbor_ends_is_stopped_before_it_is_graded_and_its_work_is_collected(tmp_path):
    is_gone = 'kill -0 "$(cat pid)" && reward=0 || reward=1; echo $reward > /logs/verifier/reward.txt'
    write_task(tmp_path / "tasks/slow", "[agent]\ntimeout_sec = 8\n", "Take long.\n", is_gone)
    known = Knowing(tmp_path / "tasks", {"slow": (run("echo $$ > pid; exec sleep 300"),)})
    async with ModelServer(thinks=known, models=("gpt-5.1",)) as server:
        trials = await run_job(tmp_path, tmp_path / "tasks", server, *IN_IMAGE)
    assert (trials["slow"].error, trials["slow"].reward) == ("AgentTimeoutError", 1.0)
    (call,) = (step for step in trials["slow"].read_trajectory()["steps"] if step.get("tool_calls"))
    assert "sleep 300" in call["tool_calls"][0]["arguments"]["command"]
    assert trials["slow"].result["agent_result"]["n_input_tokens"] == 100


async def test_a_limit_is_no_error_and_what_was_done_until_then_is_graded(tmp_path):
    test = "test -e made && echo 0.5 > /logs/verifier/reward.txt"
    write_task(tmp_path / "tasks/long", "", "Go on for ever.\n", test)
    known = Knowing(tmp_path / "tasks", {"long": (run("touch made"), *(run(f"echo {turn}") for turn in range(9)))})
    async with ModelServer(thinks=known, models=("gpt-5.1",)) as server:
        trials = await run_job(tmp_path, tmp_path / "tasks", server, *IN_IMAGE, "--ak", "max_steps=3")
    assert (trials["long"].error, trials["long"].reward) == (None, 0.5)
    metadata = trials["long"].result["agent_result"]["metadata"]
    assert (metadata["limit"], metadata["exit_code"], metadata["steps"]) == ("steps", 3, 3)


async def test_a_key_that_is_refused_is_the_error_that_harbor_neither_grades_nor_tries_again(tmp_path):
    write_task(tmp_path / "tasks/any", "", "Do it.\n", "echo 1 > /logs/verifier/reward.txt")
    async with ModelServer([LAST], key="another", models=("gpt-5.1",)) as server:
        trials = await run_job(tmp_path, tmp_path / "tasks", server, *IN_IMAGE)
    assert (trials["any"].error, trials["any"].reward) == ("AgentAuthenticationError", None)


async def test_a_step_that_is_resumed_continues_the_task_and_counts_only_what_it_took(tmp_path):
    task = tmp_path / "tasks/steps"
    write_task(task, '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n', "", "echo 1 > /logs/verifier/reward.txt")
    for name in ("one", "two"):
        (task / "steps" / name).mkdir(parents=True)
        (task / "steps" / name / "instruction.md").write_text(f"This is step {name}.\n")
    (task / "instruction.md").unlink()
    async with ModelServer(thinks=lambda request: LAST, models=("gpt-5.1",)) as server:
        trials = await run_job(tmp_path, tmp_path / "tasks", server, *IN_IMAGE, "--resume-trajectory")
    one, two = trials["steps"].result["step_results"]
    assert [step["agent_result"]["n_input_tokens"] for step in (one, two)] == [200, 200]
    assert one["agent_result"]["metadata"]["task"] == two["agent_result"]["metadata"]["task"]
    told = json.dumps(trials["steps"].read_trajectory("steps/two/agent"))
    assert "This is step one." in told
    assert "This is step two." in told


OUTSIDE = [f"{name}={value}" for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "HTTP", "SSL_"))]
"""How this machine reaches the package index."""


@pytest.mark.parametrize("way", ["python", "uv"])
async def test_the_wheel_is_installed_by_the_python_of_the_image_or_where_that_is_old_by_uv(tmp_path, way):
    programs = tmp_path / "programs"
    programs.mkdir()
    if way == "uv":
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", tmp_path / "uv", "uv"], check=True)
        (programs / "uv").symlink_to(tmp_path / "uv/bin/uv")
    (programs / "python3").symlink_to("/bin/false" if way == "uv" else Path(sys.base_prefix) / "bin/python3")
    (tmp_path / "wheel").mkdir()
    wheel = build_wheel(tmp_path / "wheel")
    task = tmp_path / "tasks/made"
    write_task(task, "", "Make it.\n", "test -e made && echo 1 > /logs/verifier/reward.txt")
    known = Knowing(tmp_path / "tasks", {"made": (run("touch made"),)})
    path = f"{programs}:{Path(sys.base_prefix) / 'bin'}:/usr/bin:/bin"
    words = [*AGENT, "--ak", f"wheel={wheel}", *(word for each in OUTSIDE for word in ("--ae", each))]
    async with ModelServer(thinks=known, models=("gpt-5.1",)) as server:
        trials = await run_job(tmp_path, tmp_path / "tasks", server, *words, seen=(*SEEN[2:], tmp_path), path=path)
    trial = trials["made"]
    assert (trial.error, trial.reward) == (None, 1.0)
    installed = trial.folder / "room/home/person/.local"
    assert (installed / "bin/halo").is_symlink()
    assert (installed / "share/uv/tools/halocline").is_dir() == (way == "uv")


async def test_without_a_wheel_no_trial_begins(tmp_path):
    write_task(tmp_path / "tasks/any", "", "Do it.\n", "echo 1 > /logs/verifier/reward.txt")
    async with ModelServer([LAST], models=("gpt-5.1",)) as server:
        with pytest.raises(AssertionError, match="Name Halocline's wheel"):
            await run_job(tmp_path, tmp_path / "tasks", server, *AGENT)
        assert server.requests == []


async def test_harbors_agent_for_acp_runs_it_unchanged(tmp_path):
    write_task(tmp_path / "tasks/made", "", "Make it.\n", "test -e made && echo 1 > /logs/verifier/reward.txt")
    known = Knowing(tmp_path / "tasks", {"made": (run("touch made"),)})
    entry = {"id": "halocline", "name": "Halocline", "version": "1", "description": "A coding agent"}
    entry["distribution"] = {"local": {"cmd": "halo", "args": ["acp"]}}
    async with ModelServer(thinks=known, models=("gpt-5.1",)) as server:
        variables = ("OPENAI_API_KEY=sk-of-the-test", f"OPENAI_BASE_URL={server.url('openai')}")
        words = ["--agent", "acp", "--ak", f"registry_entry={json.dumps(entry)}", "--ak", "skip_install=true"]
        words += [word for each in variables for word in ("--ae", each)]
        seen = (*SEEN, f"{sys.prefix}=/opt/harbor-acp-venv")  # where Harbor's client runs, with the same library
        trials = await run_job(tmp_path, tmp_path / "tasks", server, *words, seen=seen)
        assert server.requests[0].body["model"] == "gpt-5.1"
    assert (trials["made"].error, trials["made"].reward) == (None, 1.0)
    steps = trials["made"].read_trajectory()["steps"]
    assert any(step.get("tool_calls") for step in steps)


async def test_a_tasks_mcp_servers_and_skills_are_offered_and_no_web_tools_where_harbor_wants_none(tmp_path):
    server_of_task = {"name": "parrot", "transport": "stdio", "command": sys.executable, "args": [str(PARROT)]}
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in server_of_task.items())
    config = f'[environment]\nskills_dir = "/app/skills"\n[[environment.mcp_servers]]\n{lines}\n'
    write_task(tmp_path / "tasks/any", config, "Do it.\n", "echo 1 > /logs/verifier/reward.txt")
    skill = tmp_path / "tasks/any/environment/skills/knitting/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: knitting\ndescription: How to knit a scarf.\n---\nKnit.\n")
    words = [*IN_IMAGE, "--ak", "disable_web_search=true"]
    async with ModelServer(thinks=lambda request: LAST, models=("gpt-5.1",)) as server:
        trials = await run_job(tmp_path, tmp_path / "tasks", server, *words)
        asked = server.requests[0].body
    assert (trials["any"].error, trials["any"].reward) == (None, 1.0)
    tools = {tool["function"]["name"] for tool in asked["tools"]}
    assert [name for name in tools if "parrot" in name and "echo" in name]
    assert "web_fetch" not in tools
    assert "execute_command" in tools
    assert "How to knit a scarf." in json.dumps(asked)
