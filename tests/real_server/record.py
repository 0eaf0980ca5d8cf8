"""Records what real servers send, into `tests/providers/recorded/`. Each file is one HTTP response, byte for byte.

python -m tests.real_server.record                          # llama.cpp, which it starts itself
python -m tests.real_server.record FOLDER URL KEY WHAT      # one stream of a server that runs, in every family
"""

import asyncio
import sys
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
from halocline.providers.gemini.request import Gemini

PLACE = Path(__file__).parent.parent / "providers" / "recorded"
LONG = UserMessage((Text("water " * 400),))
PREFIXES = {"anthropic": "", "llamacpp": "/v1", "openai-responses": "/v1", "gemini": "/v1beta"}

STREAMS: dict[str, tuple[Sequence[str], Request]] = {
    "text": (("--seed", "11"), request(max_tokens=16)),
    "calls": ((*CALLS_TOOLS, "--seed", "4"), request(tools=SPECS, max_tokens=90)),
    "cut": ((*CALLS_TOOLS, "--seed", "1"), request(tools=SPECS, max_tokens=38)),
    "overflow": (("-c", "512"), request(LONG)),
}
"""What is asked for: the server's flags and the request."""


async def record(folder: str, url: str, key: str, family: str, what: str) -> None:
    """Ask for one stream, and keep the server's whole answer."""
    async with relay(url) as between:
        kind = (FAMILIES | {"gemini": Gemini})[family]
        model = kind(endpoint(family, "nonsense", base_url=between.url + PREFIXES[family], key=key), MemoryBlobs())
        try:
            async for _ in model.stream(STREAMS[what][1]):
                pass
        except ModelError as error:
            print(f"  {error.kind}: {error.text}")
        await model.close()
    path = PLACE / folder / f"{family}-{what}.http"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(between.replies))
    print(f"{path}: {path.stat().st_size} bytes")


async def record_llama() -> None:
    with tempfile.TemporaryDirectory() as folder:
        model_file = Path(folder) / "nonsense.gguf"
        write_model(model_file)
        for what, (flags, _) in STREAMS.items():
            for family in FAMILIES:
                async with llama_server(model_file, *flags) as server:
                    await record("llama.cpp", server.url, "", family, what)


async def main(words: Sequence[str]) -> None:
    if not words:
        await record_llama()
        return
    folder, url, key, what = words
    for family in PREFIXES:
        await record(folder, url, key, family, what)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
