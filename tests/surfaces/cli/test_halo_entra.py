import pytest
from tests.providers.entra_server import HEADER, token_name, token_server
from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo

pytestmark = [pytest.mark.process, pytest.mark.slow]


async def test_a_task_on_azure_without_a_key_leaves_no_token_in_any_file(halo: Halo) -> None:
    async with token_server() as service, ModelServer([Turn(text="Done.")]) as server:
        halo.env |= {"IDENTITY_ENDPOINT": f"{service.url}/msi/token", "IDENTITY_HEADER": HEADER}
        halo.env |= {"AZURE_OPENAI_ENDPOINT": server.url("openai")}
        done = await halo.run("run", "-m", "azure/gpt-5.6", "--debug", str(halo.root / "debug.log"), "Hello")
    assert (done.code, server.requests[0].headers["authorization"]) == (0, f"Bearer {token_name(1)}"), done.err
    files = [path for path in halo.root.rglob("*") if path.is_file()]
    assert [path for path in files if token_name(1).encode() in path.read_bytes()] == []
    assert token_name(1) not in done.out + done.err
