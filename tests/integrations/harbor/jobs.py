"""Jobs of Harbor's own runner on tasks in its format, with a model that knows what to do by the task's instruction."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.architecture.sources import ROOT
from tests.servers.model_server import Call, ModelServer, ReceivedRequest, Turn
from tests.surfaces.harbor_set_up import runner

from halocline.protocol.messages import Usage

REPAIRS = ROOT / "evals" / "repairs"
MODEL = "openai/gpt-5.1"
PROGRAMS = Path(sys.executable).parent
"""Where `halo` is: in the rooms of trials, too, as if it were in their image."""
SEEN = (ROOT, Path(sys.prefix), Path(sys.base_prefix))
LAST = Turn(text="Done.", usage=Usage(input=200, output=10))
HARBOR = "from harbor.cli.main import app; app()"
FOLDERS = (ROOT / "integrations/harbor", Path(__file__).parent)
"""Of the agent, and of the room."""


@dataclass(frozen=True)
class Trial:
    """What Harbor says of one try of a task, and its folder."""

    result: Mapping[str, Any]
    folder: Path

    @property
    def reward(self) -> float | None:
        found = self.result["verifier_result"]
        return found["rewards"]["reward"] if found else None

    @property
    def error(self) -> str | None:
        found = self.result["exception_info"]
        return found["exception_type"] if found else None

    def read_trajectory(self, below: str = "agent") -> dict[str, Any]:
        return json.loads((self.folder / below / "trajectory.json").read_text())


class Knowing:
    """Answers each request by the task whose instruction is in it: `steps` are its turns; any other gets the last."""

    def __init__(self, tasks: Path, steps: Mapping[str, Sequence[Turn]]) -> None:
        self._steps = steps
        self._words = {path.parent.name: _escape(path.read_text()) for path in tasks.glob("*/instruction.md")}

    def __call__(self, request: ReceivedRequest) -> Turn:
        body = json.dumps(request.body, ensure_ascii=False)
        name = next((name for name, words in self._words.items() if words in body), "")
        replies = sum(message.get("role") == "assistant" for message in request.body.get("messages", ()))
        steps = self._steps.get(name, ())
        return steps[replies] if replies < len(steps) else LAST


def _escape(text: str) -> str:
    return json.dumps(text.strip(), ensure_ascii=False)[1:-1]


def solve(name: str) -> Turn:
    """The turn that runs the solution of a repair task."""
    command = (REPAIRS / name / "solution" / "solve.sh").read_text()
    return run(command)


def run(command: str) -> Turn:
    call = Call("execute_command", {"command": command})
    return Turn(text="I do it.", calls=(call,), usage=Usage(input=100, output=20))


async def run_job(
    folder: Path, tasks: Path, server: ModelServer, *words: str, seen: Sequence[str | Path] = SEEN, path: str = ""
) -> dict[str, Trial]:
    """Run a job on these tasks, two trials at once, and return its trials by task. `path`: of the rooms' programs."""
    env = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "PYTHONPATH": os.pathsep.join(map(str, FOLDERS)),
        "HARBOR_TELEMETRY": "0",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENAI_API_KEY": "sk-of-the-test",
        "OPENAI_BASE_URL": server.url("openai"),
    }
    path = path or f"{PROGRAMS}:/usr/bin:/bin"
    room = ("--env", "room:Room", "--ek", f"seen={':'.join(map(str, seen))}", "--ek", f"path={path}")
    job = ("run", "-p", str(tasks), "-m", MODEL, "--jobs-dir", str(folder), "--job-name", "job", "-n", "2", "-q")
    process = await asyncio.create_subprocess_exec(
        *(str(runner()), "-c", HARBOR, *job, *room, *words),
        env=env,
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    trials = [Trial(json.loads(path.read_text()), path.parent) for path in (folder / "job").glob("*/result.json")]
    assert process.returncode == 0, said.decode()
    assert trials, said.decode()
    return {trial.result["task_name"].rpartition("/")[2]: trial for trial in trials}


def write_task(folder: Path, config: str, instruction: str, test: str) -> None:
    """Write a task in Harbor's format; its script `test` is run in /app."""
    for name in ("environment", "tests"):
        (folder / name).mkdir(parents=True)
    (folder / "task.toml").write_text(config)
    (folder / "instruction.md").write_text(instruction)
    (folder / "environment" / "Dockerfile").write_text("FROM scratch\n")
    (folder / "tests" / "test.sh").write_text(f"#!/bin/bash\n{test}\n")
