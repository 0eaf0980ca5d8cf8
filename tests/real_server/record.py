"""Records what the real server sends: `python -m tests.real_server.record` renews `tests/providers/recorded/`.

Each file is one HTTP response as it came over the socket, byte for byte: head, chunks, end.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.providers.streams import MemoryBlobs, endpoint, request
from tests.real_server.llama_server import CALLS_TOOLS, llama_server, relay
from tests.real_server.make_model import write_model
from tests.real_server.test_llama_server import FAMILIES, SPECS

from halocline.ports.model import Request
from halocline.protocol.errors import ModelError
from halocline.protocol.messages import Text, UserMessage

PLACE = Path(__file__).parent.parent / "providers" / "recorded" / "llama.cpp"
LONG = UserMessage((Text("water " * 400),))

STREAMS: dict[str, tuple[Sequence[str], Request]] = {
    "text": (("--seed", "11"), request(max_tokens=16)),
    "calls": ((*CALLS_TOOLS, "--seed", "4"), request(tools=SPECS, max_tokens=90)),
    "cut": ((*CALLS_TOOLS, "--seed", "1"), request(tools=SPECS, max_tokens=38)),
    "overflow": (("-c", "512"), request(LONG)),
}
"""What is asked for: the server's flags and the request."""


async def recorded(model_file: Path, family: str, flags: Sequence[str], asked: Request) -> bytes:
    """The server's whole answer."""
    async with llama_server(model_file, *flags) as server, relay(server.url) as between:
        base = between.url if family == "anthropic" else f"{between.url}/v1"
        model = FAMILIES[family](endpoint(family, "nonsense", base_url=base), MemoryBlobs())
        try:
            async for _ in model.stream(asked):
                pass
        except ModelError as error:
            print(f"  {error.kind}: {error.text}")
        await model.close()
    return b"".join(between.replies)


async def main() -> None:
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        model_file = Path(folder) / "nonsense.gguf"
        write_model(model_file)
        for family in FAMILIES:
            for what, (flags, asked) in STREAMS.items():
                data = await recorded(model_file, family, flags, asked)
                (PLACE / f"{family}-{what}.http").write_bytes(data)
                print(f"{family}-{what}.http: {len(data)} bytes")


if __name__ == "__main__":
    asyncio.run(main())
