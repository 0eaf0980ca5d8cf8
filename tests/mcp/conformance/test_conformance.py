"""The protocol's public conformance suite, which nobody here wrote, judges our client and our server.

Left out: what needs a person in the middle of a task (forms, wider scopes), a document about the client on the web,
which Halocline has none of, and drafts and extensions.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from tests.mcp.conformance.set_up import MISSING, suite
from tests.mcp.http import serving

from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import open_client
from halocline.surfaces.cli.mcp.serve import build_server

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.skipif(not suite(), reason=MISSING)]
ROOT = Path(__file__).parents[3]
CLIENT = f"{sys.executable} -m tests.mcp.conformance.client"
OF_A_CLIENT = [
    *("initialize", "tools_call", "sse-retry", "auth/pre-registration", "auth/2025-03-26-oauth-metadata-backcompat"),
    *("auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3"),
    *("auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined"),
    *("auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none"),
    "auth/2025-03-26-oauth-endpoint-fallback",
]
OF_A_SERVER = ["server-initialize", "ping", "tools-list"]


async def run_suite(folder, *words, env=None):
    """Run a scenario; return the checks that failed, by their names, and what was printed."""
    process = await asyncio.create_subprocess_exec(
        *suite(),
        *words,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(folder)} | (env or {}),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()
    found = [json.loads(file.read_text()) for file in folder.rglob("checks.json")]
    failed = [check["name"] for checks in found for check in checks if check["status"] == "FAILURE"]
    return process.returncode, failed, printed.decode()[-3_000:]


@pytest.mark.parametrize("scenario", OF_A_CLIENT)
async def test_our_client_passes_the_suite(tmp_path, scenario):
    words = ("client", "--command", CLIENT, "--scenario", scenario, "--timeout", "60000")
    code, failed, printed = await run_suite(tmp_path, *words)
    assert (code, failed) == (0, []), printed


@pytest.mark.parametrize("scenario", OF_A_SERVER)
async def test_our_server_passes_the_suite(tmp_path, monkeypatch, scenario):
    monkeypatch.setenv("HALOCLINE_HOME", str(tmp_path / "home"))
    client = open_client(Choices(unattended=True), "mcp")
    app = build_server(client, tmp_path, TaskOptions()).streamable_http_app()
    try:
        async with serving(app) as url:
            code, failed, printed = await run_suite(tmp_path, "server", "--url", f"{url}/mcp", "--scenario", scenario)
    finally:
        await client.close()
    assert (code, failed) == (0, []), printed
