"""The agent for Inspect, in a real evaluation: Inspect's bridge and sandbox, and a model of Inspect that is played."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT
from tests.cached_install import CACHE, install, run_step

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(600)]
PACKAGE = "inspect-ai==0.3.285"
PRIVATE = ("bwrap", "--dev-bind", "/", "/", "--tmpfs", "/var/tmp", "--") if shutil.which("bwrap") else ()
"""Inspect's local sandbox keeps its programs in /var/tmp, and leaves them there."""
SOLVED, IDLE = ["last-page", "leap-days"], ["first-column"]
EVALUATE = """
import json, sys
from halocline_inspect import REPAIRS, repairs
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

solved, idle, logs = json.loads(sys.argv[1])
instructions = {name: (REPAIRS / name / "instruction.md").read_text().strip() for name in solved}

def answer(messages, tools, choice, config):
    text = "\\n".join(message.text for message in messages)
    name = next((name for name, words in instructions.items() if words in text), None)
    output = ModelOutput.from_content("mockllm/model", "Done.")
    if name and not any(message.role == "assistant" for message in messages):
        command = (REPAIRS / name / "solution/solve.sh").read_text()
        output = ModelOutput.for_tool_call("mockllm/model", "execute_command", {"command": command})
    output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
    return output

model = get_model("mockllm/model", custom_outputs=answer)
eval(repairs(), model=model, sample_id=solved + idle, log_dir=logs, display="plain", max_samples=1)
"""
READ = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log

(found,) = list_eval_logs(sys.argv[1])
log = read_eval_log(found)
samples = {
    sample.id: {
        "score": sample.scores["hidden_tests"].value,
        "tools": [call.function for message in sample.messages for call in getattr(message, "tool_calls", None) or ()],
        "tokens": sample.model_usage["mockllm/model"].input_tokens,
    }
    for sample in log.samples
}
print(json.dumps({"status": log.status, "samples": samples}))
"""


@pytest.fixture(scope="module")
def python() -> Path:
    """The Python that has Inspect."""
    place = CACHE / "inspect"

    def fill(new: Path) -> bool:
        made = run_step("a place for Inspect", [sys.executable, "-m", "venv", new / "venv"], new)
        pip = [new / "venv/bin/python", "-m", "pip", "install", "--quiet", PACKAGE, "openai", "anthropic"]
        return made and run_step("Inspect", pip, new)

    if not install(place, PACKAGE, fill):
        pytest.skip("Inspect cannot be installed")
    return place / "venv/bin/python"


def test_inspect_scores_what_halocline_did_and_its_log_has_the_conversation(python: Path, tmp_path: Path) -> None:
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT / "integrations/inspect"),
    }
    logs = tmp_path / "logs"
    words = [*PRIVATE, python, "-c", EVALUATE, json.dumps([SOLVED, IDLE, str(logs)])]
    evaluated = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert evaluated.returncode == 0, evaluated.stdout + evaluated.stderr
    read = subprocess.run([python, "-c", READ, logs], cwd=tmp_path, capture_output=True, text=True, check=True)
    told = json.loads(read.stdout)
    assert told["status"] == "success", evaluated.stdout
    assert told["samples"] == {
        **{name: {"score": 1.0, "tools": ["execute_command"], "tokens": 200} for name in SOLVED},
        **{name: {"score": 0.0, "tools": [], "tokens": 100} for name in IDLE},
    }
