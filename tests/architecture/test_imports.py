import asyncio
import subprocess

import pytest
from tests.architecture.loaded import drop_prepared, is_below, modules_of
from tests.servers.model_server import ModelServer

from halocline.protocol.secrets.secret import Secret
from halocline.providers.auth.accounts import secret_name
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.providers.scripted.model import Turn
from halocline.store.paths import Home
from halocline.store.secrets.store import SecretStore
from halocline.tools.toolset import ALL, RARE

pytestmark = pytest.mark.process

UNUSED = (
    "typing_extensions",
    "platform",
    *(f"halocline.tools.{tool.name}" for tool in ALL),
    "halocline.tools.schema",
    "halocline.tools.custom_tool",
    "halocline.runtime.parts.program_parts",
    "halocline.task.updates.undeclared",
    "halocline.sdk",
    "halocline.task.calls.tool_calls",
    "halocline.policy.gate",
    "halocline.policy.rules",
    "halocline.hosts.ripgrep",
    "halocline.hosts.web.fetch",
    "halocline.hosts.shell.shell",
    "halocline.hosts.shell.policy_facts",
    "halocline.hosts.code.tree_sitter",
    "halocline.hosts.documents.documents",
    "halocline.runtime.parts.revisions",
    "halocline.runtime.apply_command",
    "halocline.ports.documents",
    "halocline.ports.revisions",
    "halocline.ports.web_search",
    "halocline.ports.editor_models",
    "halocline.surfaces.slash.context",
    "halocline.surfaces.terminal.asking.decision",
    *(f"halocline.surfaces.cli.session.{name}" for name in ("images", "notes", "user_shell")),
    "rich",
    "prompt_toolkit",
    "pygments",
    "markdown_it",
    "halocline.providers.anthropic.request",
    "halocline.providers.gemini.request",
    "halocline.providers.gemini.schema",
    "halocline.providers.gemini.stream",
    "halocline.providers.sdk.model",
    "halocline.providers.openai_responses.request",
    "halocline.providers.scripted.model",
    "halocline.providers.response_format",
    "halocline.providers.thinking",
    "halocline.context.notes.answer_schema",
    "halocline.context.compaction.plan",
    "halocline.runtime.prompts.output_schema",
    "halocline.providers.auth.accounts",
    "halocline.providers.errors",
    "halocline.services.models.accounts",
    "halocline.runtime.models.connection_test",
    "halocline.store.secrets.store",
    "halocline.store.secrets.keyring",
    "halocline.hosts.web.oauth_callback",
    "halocline.hosts.code.grammars",
    "halocline.hosts.documents.reader",
    "halocline.hosts.language_servers.servers_table",
    "halocline.hosts.language_servers.finding",
    "halocline.hosts.language_servers.server",
    "halocline.context.notes.diagnostics",
    "halocline.task.calls.post_edit_checks",
    "tree_sitter",
    "halocline.policy.shell",
    "halocline.policy.shell.permissions",
    "halocline.hosts.shell.environment",
    "halocline.surfaces.cli.commands.policy",
    "keyring",
    "charset_normalizer",
    "halocline.edits.formats.blocks",
    "halocline.edits.formats.patch",
    "halocline.edits.plan",
    "halocline.hosts.files.transaction",
    *(
        f"halocline.checkpoints.restore.{name}"
        for name in ("apply", "compare", "export", "recovery", "restore", "steps")
    ),
    "halocline.runtime.history.actions",
    "halocline.runtime.history.forks",
    "halocline.runtime.history.snapshots",
    "bs4",
    "markdownify",
    "playwright",
    "halocline.hosts.browser.browser",
    "halocline.hosts.browser.proxy",
    "halocline.hosts.browser.discovery",
    "starlette",
    "uvicorn",
    "websockets",
    "tomlkit",
    "halocline.surfaces.web",
    "halocline.runtime.uploads",
    "halocline.runtime.user_shell",
    "halocline.services.settings",
    "halocline.runtime.history.restore_preview",
    "halocline.services.folders",
    "halocline.store.settings.edit",
    "halocline.ports.browser",
    "halocline.tools.browser_action",
    "halocline.tools.pages",
    *(f"halocline.tools.{name}" for name in RARE),
    "halocline.context.notes.tool_requests",
    "halocline.context.instructions.front_matter",
    "halocline.context.instructions.files",
    "halocline.context.instructions.active",
    "halocline.runtime.rules.folder_rules",
    "halocline.runtime.rules.multi_root",
    "halocline.runtime.assembly.browser",
    "halocline.runtime.assembly.optional_tools",
    "halocline.runtime.assembly.sandbox",
    "halocline.context.instructions.touched_files",
    "halocline.services.instructions",
    "halocline.ports.instructions",
    "halocline.store.permissions.instruction_switches",
    "halocline.runtime.assembly.search_engine",
    "halocline.edits.formats.unified",
    *(f"halocline.git.{name}" for name in ("commit", "diffs", "doubts", "process", "programs", "view", "worktrees")),
    "halocline.hosts.web.engines",
    "halocline.hosts.web.search",
    "halocline.protocol.secrets.redaction",
    "yaml",
    "halocline.providers.text_tools.tags",
    "halocline.providers.text_tools.printed_calls",
    "halocline.providers.text_tools.model",
    "halocline.testing",
    "halocline.surfaces.rows.kinds",
    "halocline.task.calls.argument_repair",
    "halocline.task.hooks.hooks",
    "halocline.hosts.hooks",
    "halocline.ports.hooks",
    "halocline.store.permissions.hook_files",
    "halocline.store.permissions.trust",
    "halocline.runtime.rules.hooks",
    "halocline.runtime.prompts.slash_commands",
    "halocline.runtime.prompts.command_files",
    "halocline.runtime.model_switch",
    "halocline.context.user_files.commands",
    "halocline.surfaces.slash.dispatch",
    "halocline.surfaces.terminal.composing.slash_menu",
    "halocline.surfaces.cli.session.task_switch",
    "mcp",
    "halocline.mcp",
    "opentelemetry",
    "halocline.runtime.traces",
    "halocline.protocol.traces.spans",
    "halocline.runtime.mcp",
    "halocline.hosts.shell.subprocesses",
    "halocline.ports.mcp",
    "halocline.ports.mcp_servers",
    "halocline.ports.programs",
    "halocline.store.mcp.servers",
    "halocline.surfaces.cli.mcp.manage",
    "halocline.surfaces.cli.args.mcp",
    "halocline.tools.mcp_tool",
    "halocline.runtime.attach.remote_task",
    "halocline.services.tasks",
    "halocline.store.tasks.index",
    "halocline.store.tasks.index_facts",
    "halocline.surfaces.terminal.drawing.screen",
    "halocline.surfaces.cli.plain.line_mode",
    "halocline.surfaces.cli.commands.demo",
    "halocline.surfaces.cli.commands.tasks.manage",
    "halocline.surfaces.cli.commands.checkpoints",
    "halocline.surfaces.cli.commands.doctor",
    "halocline.surfaces.cli.commands.login",
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
    "halocline.batch",
    "ray",
)
"""What a run with a model over HTTP must not pay for."""


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
    assert [module for module in drop_prepared(imported) if is_below(module, UNUSED)] == []
    assert "halocline.providers.openai_chat.request" in imported


async def test_a_run_imports_its_checkpoints_after_its_first_request(imported):
    request, checkpoints = "halocline.providers.openai_chat.request", "halocline.checkpoints.shadow_git"
    assert imported.index(request) < imported.index(checkpoints)


async def test_no_start_makes_a_dataclass_or_imports_shutil(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "settings.toml").write_text("checkpoints = false\n")  # the first one of a folder does both
    async with ModelServer([Turn(text="Hello.", delay=3)]) as server:  # long enough to look for leftovers
        words = ["run", "-p", "-y", "-m", "openai/x", "--base-url", server.url("openai"), "say hello"]
        modules = await asyncio.to_thread(modules_of, tmp_path / "home", *words, "-C", str(tmp_path))
    assert (tmp_path / "home" / "swept").exists()
    assert {"dataclasses", "shutil"}.isdisjoint(modules)


async def test_a_key_in_the_file_is_read_without_a_thought_of_the_keyring(tmp_path):
    async with ModelServer([Turn(text="Hello.")], key="sk-1") as server:
        url = server.url("openai")
        at = Endpoint(VENDORS["openai"], "x", base_url=url)
        home = Home.of({"HALOCLINE_HOME": str(tmp_path / "home")})
        SecretStore(home.credentials).put(secret_name(at.vendor, at.url), Secret("sk-1"))
        words = ["run", "-p", "-m", "openai/x", "--base-url", url, "say hello", "-C", str(tmp_path)]
        modules = await asyncio.to_thread(modules_of, home.root, *words)
    assert "halocline.store.secrets.store" in modules
    assert [module for module in modules if is_below(module, ["keyring", "halocline.store.secrets.keyring"])] == []


def test_the_version_is_told_without_importing_anything_else_of_halocline(tmp_path):
    imported = modules_of(tmp_path, "--version")
    ours = [module for module in imported if is_below(module, ["halocline"])]
    assert {*ours} == {"halocline", "halocline.__main__", "halocline._version", "halocline.first_frame"}
    assert [
        module for module in imported if is_below(module, ["asyncio", "msgspec", "argparse", "logging", "typing"])
    ] == []
    assert not (tmp_path / "tasks").exists()


def test_a_batch_of_this_machine_pays_for_no_cluster(tmp_path):
    (tmp_path / "tasks.jsonl").write_text('{"id": "a", "prompt": "p"}\n')
    modules = modules_of(tmp_path / "home", "batch", str(tmp_path / "tasks.jsonl"), "--dry-run")
    assert "halocline.batch.queue" in modules
    assert [
        module
        for module in modules
        if is_below(module, ["ray", "halocline.batch.fleet.opening", "halocline.batch.fleet.fleet"])
    ] == []


async def test_a_commit_message_pays_for_no_task(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    (project / "a.txt").write_text("a\n")
    async with ModelServer([Turn(text="Add a")]) as server:
        words = ["commit-message", "-m", "openai/x", "--base-url", server.url("openai"), "-C", str(project)]
        modules = await asyncio.to_thread(modules_of, tmp_path / "home", *words)
    assert "halocline.git.commit_diff" in modules
    unused = (
        "runtime.controller",
        "runtime.start",
        "task",
        "tools",
        "edits",
        "hosts.files",
        "mcp",
    )
    unused = ("rich", "prompt_toolkit", "tree_sitter", "yaml", *(f"halocline.{name}" for name in unused))
    assert [module for module in modules if is_below(module, unused)] == []
