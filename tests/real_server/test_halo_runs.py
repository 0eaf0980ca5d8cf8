from pathlib import Path

import pytest
from tests.real_server.llama_server import CALLS_TOOLS, llama_server
from tests.surfaces.cli.halo_process import Halo

from halocline.protocol import codec
from halocline.protocol.events import AssistantMessageCompleted, Durable, ToolCallEnded, TurnEnded, UsageReported

PROVIDERS = {"llamacpp": "/v1", "anthropic": "", "openai-responses": "/v1"}


def logged(out: str) -> list[Durable]:
    return [codec.decode(line.encode()) for line in out.splitlines()[:-1]]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_run_against_a_model_that_talks_nonsense_ends_with_all_calls_answered(
    provider: str, nonsense: Path, halo: Halo
) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text("max_tokens = 120\n")
    async with llama_server(nonsense, *CALLS_TOOLS) as server:
        base = ("--base-url", server.url + PROVIDERS[provider])
        limits = ("--max-steps", "3", "--mode", "plan")
        flags = ("-m", f"{provider}/nonsense", *base, *limits, "--output-format", "stream-json")
        done = await halo.run("run", *flags, "Say something.", env={"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"})
    events = logged(done.out)
    asked = [call.id for e in events if isinstance(e, AssistantMessageCompleted) for call in e.message.tool_calls]
    # Readers run together and end in any order.
    assert sorted(event.call for event in events if isinstance(event, ToolCallEnded)) == sorted(asked) != []
    assert isinstance(events[-1], TurnEnded)
    # Its name says nothing of its size: the server does, where it is asked as one of this machine.
    assert events[0].compact is (provider == "llamacpp")
    assert (done.code, done.result["stop_reason"]) in ((0, "end_turn"), (3, "max_turn_requests"), (3, "max_tokens"))
    assert all(event.usage.input and event.usage.output for event in events if isinstance(event, UsageReported))
