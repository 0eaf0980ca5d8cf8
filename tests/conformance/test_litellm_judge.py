"""LiteLLM's proxy stands between a task and the model server: it judges our requests, and rewrites each reply.

It is installed once for a machine, in an environment of its own, as it pins older packages than ours.
"""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.cached_install import CACHE, install, run_step
from tests.journeys.conftest import Journey
from tests.journeys.repair import PROJECT, PROMPT, REPAIRED, TURNS
from tests.servers.model_server import Call, ModelServer, Turn

from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import StopReason
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.store.settings.settings import Settings

pytestmark = [pytest.mark.slow, pytest.mark.process]
PACKAGE = "litellm[proxy]==1.108.7"
KEY = "sk-proxy"
LONGEST = 180
"""Seconds that the proxy may take to start, which loads some 2,000 modules."""
CONFIG = """
model_list:
  - model_name: by-openai
    litellm_params: {model: openai/m, api_base: os.environ/UPSTREAM_OPENAI, api_key: key}
  - model_name: by-anthropic
    litellm_params: {model: anthropic/claude-sonnet-4-5, api_base: os.environ/UPSTREAM_ANTHROPIC, api_key: key}
"""


@pytest.fixture(scope="module")
def proxy() -> Path:
    place = CACHE / "litellm"

    def fill(new: Path) -> bool:
        made = run_step("a place for LiteLLM", [sys.executable, "-m", "venv", new / "venv"], new)
        python = str(new / "venv/bin/python")
        return made and run_step("LiteLLM", [python, "-m", "pip", "install", "--quiet", PACKAGE], new)

    if not install(place, PACKAGE, fill):
        pytest.skip("LiteLLM cannot be installed")
    return place / "venv/bin/python"


@asynccontextmanager
async def started(python: Path, folder: Path, server: ModelServer) -> AsyncIterator[str]:
    """Start the proxy in front of the server and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "litellm.yaml").write_text(CONFIG)
    env = {
        **os.environ,
        "HOME": str(folder),
        "LITELLM_MASTER_KEY": KEY,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "UPSTREAM_OPENAI": server.url("openai"),
        "UPSTREAM_ANTHROPIC": server.url("anthropic"),
    }
    words = ("-m", "litellm.proxy.proxy_cli", "--config", "litellm.yaml", "--host", "127.0.0.1", "--port", str(port))
    with (folder / "litellm.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(python, *words, cwd=folder, env=env, stdout=log, stderr=log)
    try:
        async with asyncio.timeout(LONGEST):
            while not await answers(port):
                assert process.returncode is None, (folder / "litellm.log").read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        await asyncio.sleep(0.2)
        return False
    writer.close()
    return True


ASKED = [(side, wire) for side in ("openai", "anthropic", "openai-responses") for wire in ("openai", "anthropic")]
"""The sides of the proxy that a task asks, and the wires by which the proxy asks the server."""
LOOKS = Turn(text="I look again.", calls=(Call("read_file", {"path": "shop.py"}, id="again"),), expect="Are you sure?")
SAYS = Turn(text="It is repaired.", expect="return sum(prices)")


@pytest.mark.timeout(600)
async def test_a_task_is_the_same_through_each_side_of_the_proxy_and_moves_from_one_to_the_next(
    proxy: Path, tmp_path: Path
) -> None:
    turns = [*TURNS, LOOKS, SAYS] * len(ASKED)
    async with ModelServer(turns) as server, started(proxy, tmp_path, server) as url:
        for first, second in zip(ASKED, (*ASKED[1:], ASKED[0]), strict=True):
            (tmp_path / "-".join(first)).mkdir()
            journey = Journey(tmp_path / "-".join(first))
            for name, text in PROJECT.items():
                journey.write(name, text)
            await ask(journey, url, first, PROMPT)
            assert (journey.workspace / "shop.py").read_text() == REPAIRED
            await ask(journey, url, second, "Are you sure?")
            assert all(TURNS[0].text in one.raw.decode() for one in server.requests[-2:])
    assert {one.path for one in server.requests} == {"/v1/chat/completions", "/v1/messages", "/v1/responses"}


async def ask(journey: Journey, url: str, asked: tuple[str, str], prompt: str) -> None:
    """Run a turn of the journey's task, or begin it, by a side of the proxy."""
    side, wire = asked
    settings = Settings(base_url=url if side == "anthropic" else f"{url}/v1", sandbox="off")
    keys = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
    client = Client(Controller(Assembly(journey.home, settings, keys)), "test")
    options = TaskOptions(model=f"{side}/by-{wire}", approval_mode=ApprovalMode.YOLO)
    journey.longest = LONGEST
    await journey.run(prompt=prompt, client=client, options=options, resume=journey.task)
    ended = journey.state.last_end
    assert ended is not None
    assert ended.reason is StopReason.END_TURN, (asked, ended.text)
