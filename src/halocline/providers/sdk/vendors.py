"""Build each vendor's model in the library, over our own HTTP client where possible.

What must stay true: nothing here retries by itself (`Retrying` does), and every wait is bounded.
"""

import os
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings, merge_model_settings

from halocline.net.proxies import Proxy
from halocline.providers.endpoint import Endpoint
from halocline.providers.errors import describe_failure


@dataclass(frozen=True, slots=True)
class Made:
    """A model of the library, with the settings for each request to it."""

    model: Model[Any]
    settings: ModelSettings | None


Maker = Callable[[Endpoint, httpx2.AsyncClient], Made]

_GOOGLE_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_ONCE: ModelSettings = {"max_retries": 0, "cache": True}


def build_azure(at: Endpoint, http: httpx2.AsyncClient) -> Made:
    from pydantic_ai.models.openai import OpenAIChatModel

    return Made(OpenAIChatModel(at.model, provider=_azure_client(at, http)), _ONCE)


def azure_responses(at: Endpoint, http: httpx2.AsyncClient) -> Made:
    from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings

    own: OpenAIResponsesModelSettings = {"openai_store": False, "openai_reasoning_summary": "auto"}
    return Made(OpenAIResponsesModel(at.model, provider=_azure_client(at, http)), merge_model_settings(_ONCE, own))


def _azure_client(at: Endpoint, http: httpx2.AsyncClient) -> Any:
    """Build the Azure client. A bare resource address means the newest API, which has no dated versions."""
    from openai import AsyncAzureOpenAI, AsyncOpenAI
    from pydantic_ai.providers.azure import AzureProvider

    if not at.base_url:
        raise describe_failure("no_azure_address")
    bare = not urlsplit(at.url).path and not os.environ.get("OPENAI_API_VERSION")
    address = f"{at.url}/openai/v1" if bare else at.url
    if not at.tokens:
        return AzureProvider(azure_endpoint=address, api_key=at.key, http_client=http)
    sign = at.tokens.get_current
    if urlsplit(address).path.endswith("/v1"):
        client = AsyncOpenAI(base_url=address, api_key=sign, http_client=http)
    else:
        client = AsyncAzureOpenAI(azure_endpoint=address, azure_ad_token_provider=sign, http_client=http)
    return AzureProvider(openai_client=client)


def github_copilot(at: Endpoint, http: httpx2.AsyncClient) -> Made:
    from pydantic_ai.models.github_copilot import GitHubCopilotModel
    from pydantic_ai.providers.github_copilot import GitHubCopilotProvider

    provider = GitHubCopilotProvider(api_key=at.key, base_url=at.url, http_client=http)
    return Made(GitHubCopilotModel(at.model, provider=provider), _ONCE)


def build_codex(at: Endpoint, http: httpx2.AsyncClient) -> Made:
    """Build a model on a ChatGPT plan, with the Codex CLI's stored sign-in, which is only read."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models.openai_codex import OpenAICodexModel
    from pydantic_ai.providers.openai_codex import OpenAICodexProvider

    try:
        provider = OpenAICodexProvider(http_client=http)
    except UserError as error:
        raise describe_failure("no_codex_sign_in") from error
    return Made(OpenAICodexModel(at.model, provider=provider), _ONCE)


def build_vertex(at: Endpoint, http: httpx2.AsyncClient) -> Made:
    """Build a model on Vertex AI: Gemini and others use Google's API, Claude nearly Anthropic's."""
    if at.model.startswith("claude"):
        return _claude_on_vertex(at, http)
    from google.auth import default as google_credentials
    from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
    from pydantic_ai.providers.google_cloud import GoogleCloudProvider

    where: dict[str, Any] = {"base_url": at.base_url or None, "http_client": http}
    if at.key:
        provider = GoogleCloudProvider(api_key=at.key, **where)
    else:
        # Looked up here because Google's client leaks an asyncio task when it finds no credentials.
        credentials, project = google_credentials(scopes=[_GOOGLE_SCOPE])
        provider = GoogleCloudProvider(credentials=credentials, project=project, **where)
    own: GoogleModelSettings = {"google_thinking_config": {"include_thoughts": True}}
    return Made(GoogleModel(at.model, provider=provider), merge_model_settings(_ONCE, own))


def _claude_on_vertex(at: Endpoint, http: httpx2.AsyncClient) -> Made:
    from anthropic import AsyncAnthropicVertex
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    env = os.environ
    project = env.get("ANTHROPIC_VERTEX_PROJECT_ID") or env.get("GOOGLE_CLOUD_PROJECT")
    if not project:
        raise describe_failure("no_vertex_project", needed=at.vendor.credentials)
    client = AsyncAnthropicVertex(
        region=env.get("CLOUD_ML_REGION") or env.get("GOOGLE_CLOUD_LOCATION") or "global",
        project_id=project,
        access_token=at.key or None,
        base_url=at.base_url or None,
        http_client=http,
    )
    # Every server understands cache marks on blocks, but not all of Google's one for a whole request.
    own: AnthropicModelSettings = {
        "max_retries": 0,
        "anthropic_cache_instructions": True,
        "anthropic_cache_tool_definitions": True,
        "anthropic_cache_messages": True,
    }
    return Made(AnthropicModel(at.model, provider=AnthropicProvider(anthropic_client=client)), own)


def build_bedrock(at: Endpoint, http: httpx2.AsyncClient) -> Made:
    """Build a Bedrock model over Amazon's own client, which signs each request and cannot use our HTTP client."""
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    network = at.network
    config = Config(
        connect_timeout=network.connect_timeout,
        read_timeout=network.first_byte_timeout,
        retries={"total_max_attempts": 1},
        proxies=_proxy_settings(network.proxy),
        **({"signature_version": UNSIGNED} if at.key else {}),
    )
    client = boto3.Session(region_name=os.environ.get("AWS_REGION") or None).client(
        "bedrock-runtime",
        config=config,
        endpoint_url=at.base_url or None,
        # This client accepts one file and trusts nothing else.
        verify=network.ca_files[0] if network.ca_files else None,
    )
    if at.key:
        bearer = {"Authorization": f"Bearer {at.key}"}
        client.meta.events.register("before-call.bedrock-runtime", lambda params, **_: params["headers"].update(bearer))
    provider = BedrockProvider(bedrock_client=client)
    return Made(BedrockConverseModel(at.model, provider=provider), {"cache": True})


def _proxy_settings(proxy: Proxy | None) -> dict[str, str]:
    """Build the proxy settings; {} keeps the client from reading the environment."""
    if proxy is None:
        return {}
    scheme = "https" if proxy.address.tls else "http"
    user, _, password = b64decode(proxy.authorization.removeprefix("Basic ")).decode().partition(":")
    login = f"{quote(user, safe='')}:{quote(password, safe='')}@" if user else ""
    return dict.fromkeys(("http", "https"), f"{scheme}://{login}{proxy.name}")


MAKERS: dict[str, Maker] = {
    "azure-chat": build_azure,
    "azure-responses": azure_responses,
    "bedrock": build_bedrock,
    "codex": build_codex,
    "github-copilot": github_copilot,
    "vertex": build_vertex,
}
