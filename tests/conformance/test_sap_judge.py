"""SAP's own SDK judges our model server, and its types our requests. It is installed once for a machine.

Its packages are installed without the hundred that the whole SDK brings: these are the ones that its client imports.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cached_install import CACHE, install, run_step
from tests.conformance.service_keys import service_key
from tests.conformance.test_request_judges import history
from tests.providers.markup import TOOLS
from tests.providers.streams import MemoryBlobs, collected, endpoint, request
from tests.servers.model_server import Call, ModelServer, Turn
from tests.servers.sap_format import SECRET

from halocline.protocol.messages import Usage
from halocline.providers.sap.request import SapAiCore

pytestmark = [pytest.mark.slow, pytest.mark.process]
PACKAGES = (
    "sap-ai-sdk-gen==7.4.1",
    "sap-ai-sdk-core==3.5.0",
    "sap-ai-sdk-base==3.4.0",
    "pyhumps==3.8.0",
    "dacite==1.9.2",
    "overloading==0.5.0",
    "aenum==3.1.17",
)
SCRIPT = Path(__file__).with_name("sap_client.py")


@pytest.fixture(scope="module")
def sdk() -> Path:
    place = CACHE / "sap-sdk"

    def fill(new: Path) -> bool:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", new, *PACKAGES]
        return run_step("SAP's SDK", command, new)

    if not install(place, " ".join(PACKAGES), fill):
        pytest.skip("SAP's SDK cannot be installed")
    return place


async def run(sdk: Path, *words: str, given: bytes = b"") -> Any:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
    env = {**os.environ, "PYTHONPATH": str(sdk)}
    program = await asyncio.create_subprocess_exec(sys.executable, str(SCRIPT), *words, env=env, **pipes)
    output, errors = await asyncio.wait_for(program.communicate(given), 120)
    assert program.returncode == 0, errors.decode()
    return json.loads(output)


async def test_a_reply_is_heard_as_the_script_says_it(sdk: Path) -> None:
    calls = (Call("read_file", {"path": "ä.py"}), Call("list_files", {}))
    turn = Turn(thinking="Hm.", text="I look.", calls=calls, usage=Usage(input=7, output=3), chunk=2)
    async with ModelServer([turn]) as server:
        heard = await run(sdk, "ask", server.url("sap"), SECRET)
    assert heard["where"].endswith("/v2/inference/deployments/new")
    assert (heard["text"], heard["thinking"], heard["usage"]) == ("I look.", "Hm.", [7, 3])
    assert [(name, json.loads(text)) for name, text in heard["calls"].values()] == [
        (call.tool, call.arguments) for call in calls
    ]
    assert heard["stop"] == "tool_calls"
    assert server.requests[0].headers["ai-resource-group"] == "team"


async def sent() -> Any:
    async with ModelServer([Turn(text="Well.")]) as server:
        model = SapAiCore(endpoint("sap-ai-core", "gpt-5", key=service_key(server)), MemoryBlobs(picture=b"\x89PNG"))
        await collected(model, request(*history("openai"), tools=TOOLS, max_tokens=1000))
        await model.close()
    return server.requests[0].body


async def test_a_request_with_everything_in_it_is_one_that_its_types_allow(sdk: Path) -> None:
    body = await sent()
    assert await run(sdk, "judge", given=json.dumps(body).encode()) == body


async def test_the_judge_notices_a_field_that_is_not_the_vendor_s(sdk: Path) -> None:
    body = await sent()
    body["config"]["modules"]["prompt_templating"]["colour"] = "blue"
    with pytest.raises(AssertionError):
        assert await run(sdk, "judge", given=json.dumps(body).encode()) == body
