"""Halocline as an agent of Inspect, on the repair tasks: `inspect eval halocline_inspect.py --model PROVIDER/NAME`."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.agent import Agent, AgentState, agent, sandbox_agent_bridge
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.util import sandbox

REPAIRS = Path(__file__).parents[2] / "evals" / "repairs"


@agent
def halocline(flags: str = "") -> Agent:
    """Run `halo -p` in the sandbox, where it asks Inspect's bridge; a limit that is reached is no error."""

    async def execute(state: AgentState) -> AgentState:
        async with sandbox_agent_bridge(state) as bridge:
            words = ["halo", "-p", "-y", "-m", "openai/inspect", "--base-url", f"http://localhost:{bridge.port}/v1"]
            env = {"OPENAI_API_KEY": "the-bridge-needs-none"}
            done = await sandbox().exec([*words, *flags.split()], input=state.messages[-1].text, env=env)
        if done.returncode not in (0, 3):
            raise RuntimeError(done.stderr)
        return bridge.state

    return execute


@scorer(metrics=[accuracy(), stderr()])
def hidden_tests() -> Scorer:
    """Bring the tests of the task into the sandbox when the agent is done, and read the reward that they leave."""

    async def score(state: TaskState, target: Target) -> Score:
        tests = (await sandbox().exec(["mktemp", "-d"])).stdout.strip()
        for name, path in _list_files(REPAIRS / str(state.sample_id) / "tests").items():
            await sandbox().write_file(f"{tests}/{name}", path.read_bytes())
        env = {"APP_DIR": ".", "TESTS_DIR": tests, "LOGS_DIR": f"{tests}/logs"}
        ran = await sandbox().exec(["bash", f"{tests}/test.sh"], env=env, timeout=600)
        reward = await sandbox().read_file(f"{tests}/logs/reward.txt")
        return Score(value=float(reward), explanation=ran.stdout + ran.stderr)

    return score


@task
def repairs(flags: str = "", sandbox: str = "local") -> Task:
    """The repair tasks. In the sandbox `local` commands run on this machine, in a temporary folder."""
    samples = [_read_sample(path) for path in sorted(REPAIRS.iterdir())]
    return Task(dataset=MemoryDataset(samples), solver=halocline(flags), scorer=hidden_tests(), sandbox=sandbox)


def _read_sample(folder: Path) -> Sample:
    files = {name: str(path) for name, path in _list_files(folder / "environment").items()}
    return Sample((folder / "instruction.md").read_text(), id=folder.name, files=files)


def _list_files(folder: Path) -> dict[str, Path]:
    return {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
