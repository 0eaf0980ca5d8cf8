"""Vendors as data: a vendor that speaks a known API family is a row. Rows take precedence over the catalog."""

from collections.abc import Mapping
from typing import Any, Literal

from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value

Family = Literal["anthropic", "openai_chat", "openai_responses", "gemini", "library", "scripted", "search"]


class Vendor(Value, frozen=True):
    """A provider's address and its differences from its API family.

    `other_key_variables` are read when `key_variable` is not set. `max_tokens_field` and `reasoning_field` name request
    fields: the limit of the reply, and where the server wants its own reasoning back (empty: nowhere).
    `thinking_style` names a row of `thinking_table.STYLES`: the fields that control thinking. `cache_key_field` takes
    the key that related requests share; `answer_schemas` is a pattern of the models that accept an output schema
    together with tools; both apply only at the vendor's own address. `local` servers need no key and cost nothing.
    `family_elsewhere` is the API family of servers at another address under the vendor's name, if it differs.

    `catalogue` is its name in the catalog, if different. `base_url_path` is appended to the address in
    `base_url_variable` when that is only a host. `key_header` takes the key in place of `authorization`; `headers` go
    with every request, and `$NAME` in their values is read from the environment. `claude_fields` are added to requests
    for Claude models so that the prompt is cached (Claude's servers cache only on request). `sizes` names how to ask
    the server about its models (`server_probe`); empty: like OpenAI's. `shared_key`: the key gives access to more than
    models, so commands may see it. `packages` are imported for it by the family `library`; `credentials` describes what
    that finds by itself when there is no key.
    """

    name: str
    title: str
    family: Family
    family_elsewhere: Family | None = None
    base_url: str = ""
    key_variable: str = ""
    other_key_variables: tuple[str, ...] = ()
    base_url_variable: str = ""
    default_model: str = ""
    local: bool = False
    max_tokens_field: str = "max_tokens"
    reasoning_field: str = ""
    thinking_style: str = "effort"
    cache_key_field: str = ""
    answer_schemas: str = ""
    usage_on_request: bool = True
    catalogue: str = ""
    base_url_path: str = ""
    key_header: str = ""
    headers: dict[str, str] = {}
    claude_fields: dict[str, Any] = {}
    sizes: str = ""
    shared_key: bool = False
    packages: tuple[str, ...] = ()
    credentials: str = ""

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables that may hold the key, in order; empty for a server that needs none."""
        return (self.key_variable, *self.other_key_variables) if self.key_variable else ()

    def key_in(self, environ: Mapping[str, str]) -> str:
        """Return the key from the environment, or ""."""
        return next((key for name in self.key_variables if (key := environ.get(name, "").strip())), "")


# LiteLLM places cache marks after the instructions and after the newest message.
LITELLM_MARKS = [{"location": "message", "role": "system"}, {"location": "message", "index": -1}]

VENDORS = {
    vendor.name: vendor
    for vendor in (
        Vendor(
            "anthropic",
            "Anthropic",
            "anthropic",
            base_url="https://api.anthropic.com",
            key_variable="ANTHROPIC_API_KEY",
            base_url_variable="ANTHROPIC_BASE_URL",
            default_model="claude-sonnet-5-5",
            answer_schemas=r"claude-(?!3|(opus|sonnet)-4(-[01])?(-\d{8}|-latest)?$)",
        ),
        Vendor(
            "openai",
            "OpenAI",
            "openai_responses",
            family_elsewhere="openai_chat",
            base_url="https://api.openai.com/v1",
            key_variable="OPENAI_API_KEY",
            base_url_variable="OPENAI_BASE_URL",
            default_model="gpt-5.6",
            max_tokens_field="max_completion_tokens",
            cache_key_field="prompt_cache_key",
            answer_schemas=r"(?!gpt-3|gpt-4(-|$))",
        ),
        Vendor(
            "openai-responses",
            "OpenAI Responses",
            "openai_responses",
            base_url="https://api.openai.com/v1",
            key_variable="OPENAI_API_KEY",
            catalogue="openai",
            cache_key_field="prompt_cache_key",
            answer_schemas=r"(?!gpt-3|gpt-4(-|$))",
        ),
        Vendor(
            "openrouter",
            "OpenRouter",
            "openai_chat",
            base_url="https://openrouter.ai/api/v1",
            key_variable="OPENROUTER_API_KEY",
            default_model="openrouter/auto",
            reasoning_field="reasoning",
            claude_fields={"cache_control": {"type": "ephemeral"}},
            thinking_style="openrouter",
        ),
        Vendor(
            "deepseek",
            "DeepSeek",
            "openai_chat",
            base_url="https://api.deepseek.com",
            key_variable="DEEPSEEK_API_KEY",
            default_model="deepseek-v4-pro",
            reasoning_field="reasoning_content",
            thinking_style="deepseek",
        ),
        Vendor(
            "groq",
            "Groq",
            "openai_chat",
            base_url="https://api.groq.com/openai/v1",
            key_variable="GROQ_API_KEY",
            default_model="openai/gpt-oss-120b",
        ),
        Vendor(
            "mistral",
            "Mistral",
            "openai_chat",
            base_url="https://api.mistral.ai/v1",
            key_variable="MISTRAL_API_KEY",
            default_model="mistral-medium-latest",
            usage_on_request=False,
            cache_key_field="prompt_cache_key",
            thinking_style="mistral",
        ),
        Vendor(
            "xai",
            "xAI",
            "openai_chat",
            base_url="https://api.x.ai/v1",
            key_variable="XAI_API_KEY",
            default_model="grok-4.7",
        ),
        Vendor(
            "together",
            "Together AI",
            "openai_chat",
            base_url="https://api.together.ai/v1",
            key_variable="TOGETHER_API_KEY",
            default_model="zai-org/GLM-5.2",
            catalogue="togetherai",
            thinking_style="together",
        ),
        Vendor(
            "gemini",
            "Google Gemini",
            "gemini",
            base_url="https://generativelanguage.googleapis.com/v1beta",
            key_variable="GEMINI_API_KEY",
            other_key_variables=("GOOGLE_API_KEY",),
            base_url_variable="GOOGLE_GEMINI_BASE_URL",
            default_model="gemini-3.8-flash",
            catalogue="google",
            answer_schemas=r"gemini-(?![12]\.)",
        ),
        Vendor(
            "fireworks-ai",
            "Fireworks AI",
            "openai_chat",
            base_url="https://api.fireworks.ai/inference/v1",
            key_variable="FIREWORKS_API_KEY",
        ),
        Vendor(
            "cerebras",
            "Cerebras",
            "openai_chat",
            base_url="https://api.cerebras.ai/v1",
            key_variable="CEREBRAS_API_KEY",
            max_tokens_field="max_completion_tokens",
        ),
        Vendor(
            "alibaba",
            "Qwen (Alibaba, international)",
            "openai_chat",
            base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
            key_variable="DASHSCOPE_API_KEY",
            thinking_style="qwen",
        ),
        Vendor(
            "moonshotai",
            "Moonshot AI",
            "openai_chat",
            base_url="https://api.moonshot.ai/v1",
            key_variable="MOONSHOT_API_KEY",
            reasoning_field="reasoning_content",
        ),
        Vendor(
            "zai",
            "Z.AI",
            "openai_chat",
            base_url="https://api.z.ai/api/paas/v4",
            key_variable="ZAI_API_KEY",
            other_key_variables=("ZHIPU_API_KEY",),
            reasoning_field="reasoning_content",
            thinking_style="zai",
        ),
        Vendor(
            "minimax",
            "MiniMax",
            "anthropic",
            base_url="https://api.minimax.io/anthropic",
            key_variable="MINIMAX_API_KEY",
        ),
        Vendor(
            "nebius",
            "Nebius Token Factory",
            "openai_chat",
            base_url="https://api.tokenfactory.nebius.com/v1",
            key_variable="NEBIUS_API_KEY",
        ),
        Vendor(
            "sambanova",
            "SambaNova",
            "openai_chat",
            base_url="https://api.sambanova.ai/v1",
            key_variable="SAMBANOVA_API_KEY",
        ),
        Vendor(
            "huggingface",
            "Hugging Face",
            "openai_chat",
            base_url="https://router.huggingface.co/v1",
            key_variable="HF_TOKEN",
            shared_key=True,
        ),
        Vendor(
            "vercel",
            "Vercel AI Gateway",
            "openai_chat",
            base_url="https://ai-gateway.vercel.sh/v1",
            key_variable="AI_GATEWAY_API_KEY",
            claude_fields={"providerOptions": {"gateway": {"caching": "auto"}}},
        ),
        Vendor(
            "requesty",
            "Requesty",
            "openai_chat",
            base_url="https://router.requesty.ai/v1",
            key_variable="REQUESTY_API_KEY",
            claude_fields={"requesty": {"auto_cache": True}},
        ),
        Vendor(
            "baseten",
            "Baseten",
            "openai_chat",
            base_url="https://inference.baseten.co/v1",
            key_variable="BASETEN_API_KEY",
        ),
        Vendor(
            "deepinfra",
            "Deep Infra",
            "openai_chat",
            base_url="https://api.deepinfra.com/v1/openai",
            key_variable="DEEPINFRA_API_KEY",
        ),
        Vendor(
            "nvidia",
            "NVIDIA",
            "openai_chat",
            base_url="https://integrate.api.nvidia.com/v1",
            key_variable="NVIDIA_API_KEY",
        ),
        Vendor(
            "venice",
            "Venice AI",
            "openai_chat",
            base_url="https://api.venice.ai/api/v1",
            key_variable="VENICE_API_KEY",
        ),
        Vendor(
            "github-models",
            "GitHub Models",
            "openai_chat",
            base_url="https://models.github.ai/inference",
            key_variable="GITHUB_TOKEN",
            shared_key=True,
        ),
        Vendor(
            "novita-ai",
            "Novita AI",
            "openai_chat",
            base_url="https://api.novita.ai/openai",
            key_variable="NOVITA_API_KEY",
        ),
        Vendor(
            "hyperbolic",
            "Hyperbolic",
            "openai_chat",
            base_url="https://api.hyperbolic.xyz/v1",
            key_variable="HYPERBOLIC_API_KEY",
        ),
        Vendor(
            "chutes",
            "Chutes",
            "openai_chat",
            base_url="https://llm.chutes.ai/v1",
            key_variable="CHUTES_API_KEY",
        ),
        Vendor(
            "azure",
            "Azure OpenAI",
            "openai_responses",
            key_variable="AZURE_OPENAI_API_KEY",
            other_key_variables=("AZURE_API_KEY",),
            base_url_variable="AZURE_OPENAI_ENDPOINT",
            base_url_path="/openai/v1",
            key_header="api-key",
        ),
        # Its compatible API rejects the option to send usage, and sends it anyway.
        Vendor(
            "cohere",
            "Cohere",
            "openai_chat",
            base_url="https://api.cohere.ai/compatibility/v1",
            key_variable="COHERE_API_KEY",
            other_key_variables=("CO_API_KEY",),
            usage_on_request=False,
        ),
        Vendor(
            "bedrock",
            "Amazon Bedrock",
            "library",
            base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
            key_variable="AWS_BEARER_TOKEN_BEDROCK",
            base_url_variable="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
            catalogue="amazon-bedrock",
            packages=("boto3",),
            credentials="AWS credentials (AWS_PROFILE, `aws sso login`) and a region in AWS_REGION",
        ),
        Vendor(
            "vertex",
            "Google Vertex AI",
            "library",
            base_url="https://aiplatform.googleapis.com",
            catalogue="google-vertex",
            packages=("google.genai", "anthropic"),
            credentials="Google credentials (`gcloud auth application-default login`) and GOOGLE_CLOUD_PROJECT",
        ),
        Vendor(
            "azure-chat",
            "Azure OpenAI, Chat or a dated API",
            "library",
            base_url="https://openai.azure.com",
            key_variable="AZURE_OPENAI_API_KEY",
            base_url_variable="AZURE_OPENAI_ENDPOINT",
            catalogue="azure",
            packages=("openai",),
        ),
        Vendor(
            "azure-responses",
            "Azure OpenAI, Responses of a dated API",
            "library",
            base_url="https://openai.azure.com",
            key_variable="AZURE_OPENAI_API_KEY",
            base_url_variable="AZURE_OPENAI_ENDPOINT",
            catalogue="azure",
            packages=("openai",),
        ),
        Vendor(
            "github-copilot",
            "GitHub Copilot",
            "library",
            base_url="https://api.githubcopilot.com",
            key_variable="GITHUB_COPILOT_API_KEY",
            other_key_variables=("GITHUB_COPILOT_API_TOKEN", "COPILOT_GITHUB_TOKEN"),
            base_url_variable="GITHUB_COPILOT_BASE_URL",
            packages=("openai",),
        ),
        Vendor(
            "codex",
            "ChatGPT through Codex",
            "library",
            base_url="https://chatgpt.com/backend-api/codex",
            catalogue="openai",
            packages=("openai",),
            credentials="the sign-in of the Codex CLI (`codex login`)",
        ),
        Vendor(
            "litellm",
            "LiteLLM",
            "openai_chat",
            key_variable="LITELLM_API_KEY",
            base_url_variable="LITELLM_BASE_URL",
            claude_fields={"cache_control_injection_points": LITELLM_MARKS},
            sizes="litellm",
        ),
        Vendor(
            "openai-compatible",
            "Any OpenAI-compatible server",
            "openai_chat",
            key_variable="OPENAI_COMPATIBLE_API_KEY",
            base_url_variable="OPENAI_COMPATIBLE_BASE_URL",
        ),
        Vendor(
            "ollama",
            "Ollama",
            "openai_chat",
            base_url="http://127.0.0.1:11434/v1",
            local=True,
            sizes="ollama",
            thinking_style="ollama",
        ),
        Vendor(
            "lmstudio", "LM Studio", "openai_chat", base_url="http://127.0.0.1:1234/v1", local=True, sizes="lmstudio"
        ),
        Vendor(
            "llamacpp",
            "llama.cpp",
            "openai_chat",
            base_url="http://127.0.0.1:8080/v1",
            local=True,
            sizes="llamacpp",
            thinking_style="llamacpp",
        ),
        Vendor("vllm", "vLLM", "openai_chat", base_url="http://127.0.0.1:8000/v1", local=True),
        Vendor("jan", "Jan", "openai_chat", base_url="http://127.0.0.1:1337/v1", local=True),
        Vendor("scripted", "The scripted model", "scripted", local=True),
    )
}


def find_vendor_row(name: str) -> Vendor:
    """Find the row by its own name or its catalog name. Raises UsageError for an unknown one."""
    if row := VENDORS.get(name) or next((row for row in VENDORS.values() if row.catalogue == name), None):
        return row
    raise UsageError(f"There is no provider {name!r}.", f"Known providers: {', '.join(VENDORS)}.")
