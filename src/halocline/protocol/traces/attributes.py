"""Attributes of spans, by the conventions of OpenTelemetry for generative AI (as of v1.42, all in development)."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from halocline.protocol import events as ev
from halocline.protocol.messages import AssistantMessage, StopReason, Usage

Attributes = Mapping[str, str | int | float | bool | tuple[str, ...]]
PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "vertex": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""Names of the conventions for providers that we call otherwise."""
_FINISHES = {StopReason.MAX_TOKENS: "length", StopReason.REFUSAL: "content_filter", StopReason.ERROR: "error"}
_PORTS = {"http": 80, "https": 443}


def describe_request(model: str, server: str) -> dict[str, str | int | float | bool | tuple[str, ...]]:
    """Return the provider and the model that `provider/model` names, and the address that was given for it."""
    provider, slash, name = model.partition("/")
    described: dict[str, str | int | float | bool | tuple[str, ...]] = {}
    if slash:
        described["gen_ai.provider.name"] = PROVIDERS.get(provider, provider)
    if model:
        described["gen_ai.request.model"] = name if slash else model
    if server and (address := urlsplit(server)).hostname:
        described["server.address"] = address.hostname or ""
        described["server.port"] = address.port or _PORTS.get(address.scheme, 443)
    return described


def count_usage(usage: Usage) -> dict[str, int]:
    """Return the tokens of a request; those of the input include what a cache had."""
    counted = {
        "gen_ai.usage.input_tokens": usage.input + usage.cache_read + usage.cache_write,
        "gen_ai.usage.output_tokens": usage.output,
    }
    more = {
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
    }
    return counted | {name: tokens for name, tokens in more.items() if tokens}


def describe_tool(
    event: ev.ToolCallStarted | ev.ToolCallEnded | ev.ApprovalRequested, name: str, server: str
) -> dict[str, str | int | float | bool | tuple[str, ...]]:
    """Return what a span of a call has; of an MCP tool also its `server`."""
    described: dict[str, str | int | float | bool | tuple[str, ...]] = {
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": event.call,
        "gen_ai.tool.type": "function",
    }
    if not isinstance(event, ev.ApprovalRequested):
        described["gen_ai.operation.name"] = "execute_tool"
    if server:
        described |= {"mcp.method.name": "tools/call", "halocline.mcp.server": server}
    return described


def name_finish(message: AssistantMessage) -> str:
    """Return why a model stopped, in the conventions' words."""
    return _FINISHES.get(message.stop_reason, "tool_call" if message.tool_calls else "stop")
