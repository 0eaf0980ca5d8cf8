import asyncio
import time

import pytest
from tests.net.raw_server import serving
from tests.providers.documents import documents
from tests.tables import for_each

from halocline.providers import server_probe
from halocline.providers.catalog.models import UNKNOWN, ModelInfo, Prices
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.endpoint import Endpoint
from halocline.providers.server_probe import LOCAL_SECONDS, ask_server, fill_info

# As the servers' own documentation shows them, shortened.
OLLAMA_PS = {"models": [{"name": "gemma4:latest", "model": "gemma4:latest", "size_vram": 5, "context_length": 4096}]}
OLLAMA_SHOW = {
    "parameters": 'num_ctx                        8192\nstop                           "<end>"',
    "details": {"family": "gemma3"},
    "model_info": {"general.parameter_count": 4300000000, "gemma3.context_length": 131072},
    "capabilities": ["completion", "vision"],
}
STUDIO = {
    "models": [
        {
            "type": "llm",
            "key": "google/gemma-4-26b",
            "params_string": "26B",
            "loaded_instances": [{"id": "google/gemma-4-26b", "config": {"context_length": 16384, "parallel": 4}}],
            "max_context_length": 262144,
            "capabilities": {"vision": True, "trained_for_tool_use": True},
        },
        {"type": "llm", "key": "idle", "loaded_instances": [], "max_context_length": 32768, "format": None},
    ]
}
STUDIO_0 = {
    "object": "list",
    "data": [
        {"id": "qwen", "state": "loaded", "max_context_length": 32768, "loaded_context_length": 4096},
        {"id": "idle", "state": "not-loaded", "max_context_length": 131072},
    ],
}
PROPS = {"default_generation_settings": {"id": 0, "n_ctx": 12032}, "total_slots": 4, "modalities": {"vision": False}}
VLLM = {"object": "list", "data": [{"id": "Qwen/Qwen4", "object": "model", "root": "x", "max_model_len": 40960}]}
LITELLM = {
    "data": [
        {
            "model_name": "fast",
            "litellm_params": {"model": "openai/gpt"},
            "model_info": {
                "max_input_tokens": 922000,
                "max_output_tokens": 128000,
                "input_cost_per_token": 2e-06,
                "output_cost_per_token": 1e-05,
                "cache_read_input_token_cost": 1e-07,
                "supports_function_calling": True,
                "supports_vision": False,
                "mode": "chat",
            },
        }
    ]
}
OPENROUTER = {
    "data": [
        {
            "id": "new/model",
            "context_length": 262144,
            "pricing": {
                "prompt": "0.0000006",
                "completion": "0.0000025",
                "input_cache_read": "0.00000015",
                "image": "0",
            },
            "top_provider": {"context_length": 262144, "max_completion_tokens": 65536, "is_moderated": False},
            "supported_parameters": ["tools", "reasoning"],
        },
        {"id": "router", "context_length": 2000000, "pricing": {"prompt": "-1", "completion": "-1"}},
    ]
}


async def said(sizes: str, model: str, given: dict, local: bool = True) -> ModelInfo:
    async with documents(given) as server:
        vendor = Vendor("near", "Near", "openai_chat", base_url=f"{server.url}/v1", local=local, sizes=sizes)
        # These tests are about the answers, not about waiting for them.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(server_probe, "LOCAL_SECONDS", 20.0)
            patch.setattr(server_probe, "REMOTE_SECONDS", 20.0)
            return await ask_server(Endpoint(vendor, model))


@pytest.mark.parametrize("model", ["gemma4", "gemma4:latest"])
async def test_ollama_says_what_it_set_aside_for_a_loaded_model(model: str) -> None:
    info = await said("ollama", model, {"/api/ps": OLLAMA_PS, "/api/show": OLLAMA_SHOW})
    assert info == ModelInfo(window=4096, tools=False, images=True, thinking=False, size=4.3)


async def test_ollama_falls_back_on_the_model_file_and_then_on_the_model() -> None:
    assert (await said("ollama", "other", {"/api/ps": OLLAMA_PS, "/api/show": OLLAMA_SHOW})).window == 8192
    plain = {**OLLAMA_SHOW, "parameters": ""}
    assert (await said("ollama", "other", {"/api/ps": {"models": []}, "/api/show": plain})).window == 131072


async def test_lm_studio_says_how_a_model_is_loaded_or_how_large_it_may_be() -> None:
    info = await said("lmstudio", "google/gemma-4-26b", {"/api/v1/models": STUDIO})
    assert info == ModelInfo(window=16384, tools=True, images=True, size=26)
    assert (await said("lmstudio", "idle", {"/api/v1/models": STUDIO})).window == 32768


async def test_an_older_lm_studio_is_understood_too() -> None:
    assert (await said("lmstudio", "qwen", {"/api/v0/models": STUDIO_0})).window == 4096
    assert (await said("lmstudio", "idle", {"/api/v0/models": STUDIO_0})).window == 131072


async def test_llama_cpp_says_how_much_one_slot_holds() -> None:
    rows = {"data": [{"id": "a/b", "meta": {"n_ctx_train": 32768, "n_params": 1543714304, "size": 1111376896}}]}
    info = await said("llamacpp", "a/b", {"/props?model=a%2Fb": PROPS, "/v1/models": rows})
    assert info == ModelInfo(window=12032, images=False, size=1.543714304)


async def test_vllm_says_it_in_its_list_of_models() -> None:
    assert (await said("", "Qwen/Qwen4", {"/v1/models": VLLM})).window == 40960


async def test_litellm_says_sizes_and_prices() -> None:
    info = await said("litellm", "fast", {"/model/info": LITELLM}, local=False)
    prices = Prices(2.0, 10.0, 0.1)
    assert info == ModelInfo(window=922000, max_output=128000, prices=prices, tools=True, images=False)


async def test_openrouter_says_sizes_and_prices_and_a_router_has_no_price_of_its_own() -> None:
    info = await said("", "new/model", {"/v1/models": OPENROUTER}, local=False)
    assert info == ModelInfo(window=262144, max_output=65536, prices=Prices(0.6, 2.5, 0.15), tools=True)
    assert (await said("", "router", {"/v1/models": OPENROUTER}, local=False)).prices is None


@for_each("sizes", ["", "ollama", "lmstudio", "llamacpp", "litellm"])
@for_each("answer", [None, [], "text", {"data": None}, {"models": [1]}, {"data": [{"id": 5}]}])
async def test_an_answer_that_makes_no_sense_says_nothing(sizes: str, answer: object) -> None:
    paths = ("/api/ps", "/api/show", "/api/v1/models", "/api/v0/models", "/props?model=m", "/v1/models", "/model/info")
    assert await said(sizes, "m", dict.fromkeys(paths, answer)) == UNKNOWN


async def test_the_key_goes_with_the_question() -> None:
    async with documents({"/v1/models": VLLM}) as server:
        vendor = Vendor("near", "Near", "openai_chat", base_url=f"{server.url}/v1")
        await ask_server(Endpoint(vendor, "Qwen/Qwen4", key="k-1"))
        assert server.requests[0].headers["authorization"] == "Bearer k-1"


async def test_a_server_that_hangs_is_not_waited_for() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with serving(hang) as url:
        began = time.monotonic()
        vendor = Vendor("near", "Near", "openai_chat", base_url=url, local=True, sizes="ollama")
        assert await ask_server(Endpoint(vendor, "m")) == UNKNOWN
        assert time.monotonic() - began < LOCAL_SECONDS * 10


def test_what_is_known_is_not_overruled() -> None:
    info = fill_info(ModelInfo(window=5, tools=False), ModelInfo(window=9, max_output=3, tools=True))
    assert info == ModelInfo(window=5, max_output=3, tools=False)
