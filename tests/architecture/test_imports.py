import asyncio
import os
import subprocess
import sys

import pytest

from halocline.protocol.secret import Secret
from halocline.providers.accounts import secret_name
from halocline.providers.endpoint import Endpoint
from halocline.providers.scripted import Turn
from halocline.providers.vendors import VENDORS
from halocline.store.paths import Home
from halocline.store.secrets import SecretStore
from halocline.testing.model_server import ModelServer
from halocline.tools.toolset import RARE

PROBE = """
import atexit, sys
atexit.register(lambda: sys.stderr.write("\\n".join(sorted(sys.modules))))
from halocline.__main__ import main
sys.exit(main())
"""
"""Runs the command line in a fresh interpreter and names on standard error every module that was imported."""

UNUSED = (
    "rich",
    "prompt_toolkit",
    "pygments",
    "markdown_it",
    "halocline.providers.anthropic",
    "halocline.providers.gemini",
    "halocline.providers.gemini_schema",
    "halocline.providers.gemini_stream",
    "halocline.providers.library",
    "halocline.providers.openai_responses",
    "halocline.providers.scripted",
    "halocline.providers.answer_schema",
    "halocline.providers.thinking",
    "halocline.context.answer_form",
    "halocline.context.compaction",
    "halocline.controller.output_schema",
    "halocline.providers.accounts",
    "halocline.providers.failures",
    "halocline.controller.accounts",
    "halocline.controller.connection_test",
    "halocline.store.secrets",
    "halocline.store.system_keyring",
    "halocline.hosts.loopback",
    "halocline.hosts.grammars",
    "halocline.hosts.document_reader",
    "halocline.hosts.language_servers.rows",
    "halocline.hosts.language_servers.finding",
    "halocline.hosts.language_servers.server",
    "halocline.context.diagnostic_notes",
    "halocline.task.aftermath",
    "tree_sitter",
    "halocline.policy.shell",
    "halocline.policy.permissions",
    "halocline.hosts.clean_environment",
    "halocline.surfaces.cli.policy",
    "keyring",
    "halocline.edits.blocks",
    "halocline.edits.patch",
    "halocline.edits.plan",
    "halocline.hosts.transaction",
    "halocline.checkpoints.applying",
    "halocline.checkpoints.comparing",
    "halocline.checkpoints.restore",
    "halocline.controller.time_travel",
    "halocline.controller.forks",
    "halocline.controller.moments",
    "bs4",
    "markdownify",
    "playwright",
    "halocline.hosts.browser",
    "halocline.hosts.browser_gate",
    "halocline.hosts.browsers",
    "starlette",
    "uvicorn",
    "websockets",
    "tomlkit",
    "halocline.surfaces.web",
    "halocline.controller.handing",
    "halocline.controller.settings_desk",
    "halocline.controller.outlook",
    "halocline.controller.folders",
    "halocline.store.settings_file",
    "halocline.ports.browser",
    "halocline.tools.browser_action",
    "halocline.tools.pages",
    *(f"halocline.tools.{name}" for name in RARE),
    "halocline.context.tool_requests",
    "halocline.context.front_matter",
    "halocline.context.instruction_files",
    "halocline.context.instructions",
    "halocline.context.touched",
    "halocline.controller.rules_desk",
    "halocline.ports.instructions",
    "halocline.store.rule_switches",
    "halocline.controller.search_choice",
    "halocline.edits.unified",
    *(f"halocline.git.{name}" for name in ("commit", "diffs", "doubts", "process", "programs", "view", "worktrees")),
    "halocline.hosts.search_engines",
    "halocline.hosts.web_search",
    "halocline.protocol.redaction",
    "yaml",
    "halocline.providers.markup",
    "halocline.providers.printed_calls",
    "halocline.providers.text_protocol",
    "halocline.testing",
    "halocline.surfaces.row_kinds",
    "halocline.task.slips",
    "halocline.task.hooks",
    "halocline.hosts.hooks",
    "halocline.ports.hooks",
    "halocline.store.hook_files",
    "halocline.store.trust",
    "halocline.controller.hooks",
    "halocline.controller.slash",
    "halocline.controller.words",
    "halocline.controller.changed_model",
    "halocline.context.word_files",
    "halocline.surfaces.cli.slash",
    "halocline.surfaces.cli.word_menu",
    "halocline.surfaces.cli.succession",
    "mcp",
    "halocline.mcp",
    "halocline.controller.mcp",
    "halocline.hosts.piped_programs",
    "halocline.ports.mcp",
    "halocline.ports.mcp_servers",
    "halocline.ports.programs",
    "halocline.store.mcp_files",
    "halocline.surfaces.cli.mcp",
    "halocline.surfaces.cli.mcp_arguments",
    "halocline.tools.mcp_tool",
    "halocline.controller.attached",
    "halocline.controller.task_desk",
    "halocline.store.task_index",
    "halocline.store.task_facts",
    "halocline.surfaces.cli.screen",
    "halocline.surfaces.cli.line_mode",
    "halocline.surfaces.cli.demo",
    "halocline.surfaces.cli.tasks",
    "halocline.surfaces.cli.checkpoints",
    "halocline.surfaces.cli.doctor",
    "halocline.surfaces.cli.login",
    "tomllib",
    "sqlite3",
    "difflib",
    "multiprocessing",
    "concurrent.futures.process",
    "http.client",
    "urllib.request",
    "email",
    "xml",
    "unittest",
    "jsonschema",
    "pydantic",
    "pydantic_ai",
    "openai",
    "anthropic",
    "google",
    "boto3",
    "logging.handlers",
)
"""What a run with a model over HTTP must not pay for."""


def modules_of(home, *words):
    """Everything that a run of `halo` imported; its exit code must be 0."""
    environment = {**os.environ, "HALOCLINE_HOME": str(home)}
    ran = subprocess.run(
        [sys.executable, "-c", PROBE, *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stderr.split("\n")


@pytest.fixture
async def imported(tmp_path):
    """What `halo run` imports with a model behind OpenAI's wire format."""
    (tmp_path / "project").mkdir()
    async with ModelServer([Turn(text="Hello.")]) as server:
        words = ["run", "-p", "-y", "-m", "openai/x", "--base-url", server.url("openai"), "say hello"]
        words += ["-C", str(tmp_path / "project")]
        modules = await asyncio.to_thread(modules_of, tmp_path / "home", *words)
        assert len(server.requests) == 1
    return modules


async def test_a_run_imports_nothing_that_it_does_not_use(imported):
    assert [module for module in imported if is_below(module, UNUSED)] == []
    assert "halocline.providers.openai_chat" in imported


async def test_a_key_in_the_file_is_read_without_a_thought_of_the_keyring(tmp_path):
    async with ModelServer([Turn(text="Hello.")], key="sk-1") as server:
        url = server.url("openai")
        at = Endpoint(VENDORS["openai"], "x", base_url=url)
        home = Home.of({"HALOCLINE_HOME": str(tmp_path / "home")})
        SecretStore(home.credentials).put(secret_name(at.vendor, at.url), Secret("sk-1"))
        words = ["run", "-p", "-m", "openai/x", "--base-url", url, "say hello", "-C", str(tmp_path)]
        modules = await asyncio.to_thread(modules_of, home.root, *words)
    assert "halocline.store.secrets" in modules
    assert [module for module in modules if is_below(module, ["keyring", "halocline.store.system_keyring"])] == []


def is_below(module, places):
    return any(module == place or module.startswith(f"{place}.") for place in places)


def test_the_version_is_told_without_importing_anything_else_of_halocline(tmp_path):
    imported = modules_of(tmp_path, "--version")
    ours = [module for module in imported if is_below(module, ["halocline"])]
    assert ours == ["halocline", "halocline.__main__", "halocline._version"]
    assert [module for module in imported if is_below(module, ["asyncio", "msgspec", "argparse", "logging"])] == []
    assert not (tmp_path / "tasks").exists()
