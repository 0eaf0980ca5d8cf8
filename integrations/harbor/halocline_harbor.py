"""Halocline as an agent of Harbor (0.26 or newer): `harbor run --agent-import-path halocline_harbor:Halocline …`.

It installs a wheel in the task's environment, works on the instruction with `halo -p`, and brings back the trajectory
(ATIF), the task's log and the result. Keys go by variables and are never on a command line.
"""

import asyncio
import json
import shlex
import tempfile
import uuid
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, override

from harbor.agents.agent_auth_resolution import ModelConnectionSpec
from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.installed.base import (
    AgentAuthenticationError,
    ApiOverloadedError,
    ApiRateLimitError,
    ApiUsageLimitError,
    BaseInstalledAgent,
    ContextWindowExceededError,
    ErrorPattern,
    ModelNotFoundError,
    NetworkConnectionError,
    with_prompt_template,
)
from harbor.agents.options import Cli, Env, InstalledAgentOptions
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from harbor.models.task.config import MCPServerConfig
from pydantic import Field

WHEEL = "HALOCLINE_WHEEL"
INSTALLED = "/installed-agent"
PATH = 'export PATH="$HOME/.local/bin:$PATH"; '
VENDORS = {
    "dashscope": "alibaba",
    "fireworks_ai": "fireworks-ai",
    "google": "gemini",
    "hosted_vllm": "vllm",
    "lm_studio": "lmstudio",
    "moonshot": "moonshotai",
    "novita": "novita-ai",
    "nvidia_nim": "nvidia",
    "together_ai": "together",
    "vercel_ai_gateway": "vercel",
    "vertex_ai": "vertex",
}
"""What Harbor calls a provider, and what Halocline does, where they differ."""
KEYS = {
    "fireworks_ai": "FIREWORKS_API_KEY",
    "nvidia_nim": "NVIDIA_API_KEY",
    "together": "TOGETHER_API_KEY",
    "vercel_ai_gateway": "AI_GATEWAY_API_KEY",
}
"""Variables that Halocline reads keys from, where Harbor's are others."""
TOTALS = {
    "n_input_tokens": "total_prompt_tokens",
    "n_cache_tokens": "total_cached_tokens",
    "n_output_tokens": "total_completion_tokens",
    "cost_usd": "total_cost_usd",
}
"""Fields of Harbor's context, and those of a trajectory that they are read from."""
ERRORS = {
    "auth": AgentAuthenticationError,
    "not_found": ModelNotFoundError,
    "quota": ApiUsageLimitError,
    "rate_limit": ApiRateLimitError,
    "overloaded": ApiOverloadedError,
    "context_exceeded": ContextWindowExceededError,
    **dict.fromkeys(("network", "unreachable", "tls", "proxy"), NetworkConnectionError),
}
HAS_PYTHON = "python3 -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null"
INSTALL = f"""
set -e
wheel=$1
if {HAS_PYTHON}; then
    python3 -m venv "$HOME/.local/share/halocline"
    "$HOME/.local/share/halocline/bin/pip" install --quiet --disable-pip-version-check "$wheel"
    mkdir -p "$HOME/.local/bin"
    ln -sf "$HOME/.local/share/halocline/bin/halo" "$HOME/.local/bin/halo"
else
    command -v uv >/dev/null || curl -LsSf https://astral.sh/uv/install.sh | sh
    uv tool install --quiet --force --python '>=3.11' "$wheel"
fi
halo --version
"""
RUN = """
logs={logs}; rm -f "$logs/trajectory.json"
halo -p -y --output-format json {words} < "$logs/instruction.md" > "$logs/result.json" 2> "$logs/halocline.txt" &
echo $! > "$logs/pid"; wait $!; code=$?
{collect}
case $code in 0 | 3) exit 0 ;; esac
cat "$logs/halocline.txt" "$logs/result.json" >&2
grep -o '"error": "model_[a-z_]*"' "$logs/trajectory.json" | tail -n 1 >&2
exit $code
"""
STOP = """
logs={logs}; kill -TERM "$(cat "$logs/pid")"
for _ in $(seq 100); do [ -e "$logs/pid" ] || exit 0; sleep 0.1; done
{collect}
"""
COLLECT = """
halo export {task} -f jsonl -o "$logs/halocline.jsonl"
halo export {task} -f atif -o "$logs/trajectory.json"
rm -f "$logs/pid"
"""


class HaloclineOptions(InstalledAgentOptions):
    """What `--agent-kwarg NAME=VALUE` sets; those of Harbor's own agents, and these."""

    wheel: Annotated[str | None, Env(WHEEL, fallback=WHEEL)] = Field(default=None, description="Wheel to install.")
    max_steps: Annotated[int | None, Cli("--max-steps")] = Field(default=None, description="Most requests.")
    max_cost: Annotated[float | None, Cli("--max-cost")] = Field(default=None, description="Most US dollars.")
    token_limit: Annotated[int | None, Cli("--token-limit")] = Field(default=None, description="Most tokens.")
    time_limit: Annotated[float | None, Cli("--time-limit")] = Field(default=None, description="Most seconds.")
    context_window: Annotated[int | None, Cli("--context-window")] = Field(default=None, description="Tokens.")
    reasoning_effort: Annotated[str | None, Cli("--effort")] = Field(default=None, description="Reasoning effort.")
    disable_web_search: Annotated[bool, Cli("--disallowed-tools WebFetch,WebSearch")] = Field(
        default=False, description="Offer no tools that search or fetch from the web."
    )


class Halocline(BaseInstalledAgent):
    """Runs `halo -p -y`. A limit that is reached is no error: what was done until then is graded."""

    capabilities = AgentCapabilities(
        base_url=True,
        atif=True,
        resume=True,
        native_web_tools=True,
        reasoning_effort=True,
        skills=True,
        mcp_servers=True,
    )
    MODEL_CONNECTION = ModelConnectionSpec(
        api_key_destination_names=KEYS,
        base_url_destination_names={"default": None},  # the flag says it
    )
    ERROR_PATTERNS = [
        *BaseInstalledAgent.ERROR_PATTERNS,
        *(ErrorPattern(f'"error": "model_{kind}"', error) for kind, error in ERRORS.items()),
    ]
    options_model = HaloclineOptions
    options: HaloclineOptions

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._task = ""
        self._counted = Counter[str]()

    @staticmethod
    @override
    def name() -> str:
        return "halocline"

    @override
    def get_version_command(self) -> str | None:
        return PATH + "halo --version"

    @override
    def parse_version(self, stdout: str) -> str:
        return stdout.split()[-1]

    @classmethod
    @override
    def preflight(cls, kwargs: dict[str, Any] | None = None, env: Mapping[str, str] | None = None) -> None:
        """Check the options before anything starts.

        Raises:
            ValueError: no wheel is named. Nothing is asked for by the name halocline: on PyPI it is not ours.
        """
        super().preflight(kwargs, env)
        options = cls.parse_options(kwargs, env)
        if not options.skip_install and not _find_wheel(options).is_file():
            raise ValueError(f"Name Halocline's wheel: --agent-kwarg wheel=FILE.whl or {WHEEL}=FILE.whl.")

    @override
    async def install(self, environment: BaseEnvironment) -> None:
        """Install the wheel into a virtual environment, or by uv where there is no Python 3.11 or newer."""
        wheel = _find_wheel(self.options)
        lacks_python = (await environment.exec(HAS_PYTHON)).return_code
        await self.ensure_system_dependencies(environment, ("git", "curl") if lacks_python else ("git",))
        target = f"{INSTALLED}/{wheel.name}"
        await self._upload_agent_owned_file(environment, wheel, target)
        await self.exec_as_agent(environment, f"{PATH}bash -c {shlex.quote(INSTALL)} install {shlex.quote(target)}")

    @override
    async def configure(self, environment: BaseEnvironment) -> None:
        if self.skills_dir:
            source = shlex.quote(self.skills_dir)
            copy = f'mkdir -p "$HOME/.agents/skills"; cp -R {source}/. "$HOME/.agents/skills/"'
            await self.exec_as_agent(environment, f"if [ -d {source} ]; then {copy}; fi")

    @override
    @with_prompt_template
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        """Work on an instruction. A run that Harbor ends, as at its time limit, is stopped, and its work collected."""
        logs = shlex.quote(self.environment_logs_dir.as_posix())
        words = self._choose_words()
        collect = COLLECT.format(task=self._task)
        await self._upload_instruction(instruction, environment)
        try:
            run = RUN.format(logs=logs, words=words, collect=collect)
            await self.exec_as_agent(environment, PATH + run, env=dict(self.model_connection.env))
        except asyncio.CancelledError:
            await environment.exec(PATH + STOP.format(logs=logs, collect=collect), timeout_sec=60)
            raise

    def _choose_words(self) -> str:
        """Return the arguments of `halo -p`, quoted for the shell; a resumed step goes on in the task of the last."""
        if self._resume and self._task:
            words = ["-r", self._task]
        else:
            self._task, self._counted = f"harbor-{uuid.uuid4()}", Counter()
            words = ["--session-id", self._task]
        if self.model_name:
            vendor, _, model = self.model_name.partition("/")
            words += ["-m", f"{VENDORS.get(vendor, vendor)}/{model}" if model else vendor]
        if address := self.model_connection.execution_base_url:
            words += ["--base-url", address]
        if self.mcp_servers:
            words += ["--mcp-config", json.dumps({"mcpServers": dict(map(_describe_server, self.mcp_servers))})]
        return f"{shlex.join(words)} {self.build_cli_flags()}"

    async def _upload_instruction(self, instruction: str, environment: BaseEnvironment) -> None:
        target = (self.environment_logs_dir / "instruction.md").as_posix()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "instruction.md"
            file.write_text(instruction, encoding="utf-8")
            await self._upload_agent_owned_file(environment, file, target)

    @override
    def populate_context_post_run(self, context: AgentContext) -> None:
        """Fill in what this run took: the totals of its task, less those of earlier steps that it continued."""
        try:
            totals = json.loads((self.logs_dir / "trajectory.json").read_text(encoding="utf-8"))["final_metrics"]
        except (OSError, ValueError, KeyError):
            self.logger.warning("The task left no trajectory, so its tokens and cost are unknown.")
            return
        took = {name: totals[key] - self._counted[key] for name, key in TOTALS.items() if key in totals}
        self._counted = Counter({key: totals[key] for key in TOTALS.values() if key in totals})
        for name, value in took.items():
            setattr(context, name, value)
        context.metadata = {"task": self._task, **self._read_result()}

    def _read_result(self) -> dict[str, Any]:
        try:
            result = json.loads((self.logs_dir / "result.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):  # a run that was killed has none
            return {}
        return {key: result[key] for key in ("stop_reason", "limit", "exit_code", "steps") if key in result}


def _find_wheel(options: HaloclineOptions) -> Path:
    return Path(options.wheel or "").expanduser()


def _describe_server(server: MCPServerConfig) -> tuple[str, dict[str, Any]]:
    if server.transport == "stdio":
        return server.name, {"type": "stdio", "command": server.command, "args": server.args}
    kind = "sse" if server.transport == "sse" else "streamableHttp"
    return server.name, {"type": kind, "url": server.url}
