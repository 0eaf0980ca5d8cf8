"""What is known about vendors and models: data, and small lookups. A vendor that speaks a known family is a row.

Prices are US dollars per million tokens, sizes are tokens; both as published by the vendors in autumn 2026.
"""

from collections.abc import Mapping
from typing import Literal

from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Usage
from halocline.protocol.values import Value

Family = Literal["anthropic", "openai_chat", "openai_responses", "gemini", "library", "scripted"]


class Vendor(Value, frozen=True):
    """Where a provider is and how it differs from its family.

    `other_key_variables` are read when `key_variable` is not set. `max_tokens_field` and `reasoning_field` name fields
    of the request: how the reply's length is bounded, and where the server wants its own reasoning back (empty:
    nowhere). `local` servers need no key and cost nothing. `family_elsewhere` is what servers at another address speak
    under the vendor's name, if not its own family. `packages` are what the family `library` imports for it, and
    `credentials` says what it finds by itself when there is no key.
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
    usage_on_request: bool = True
    packages: tuple[str, ...] = ()
    credentials: str = ""

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Where a key may be, in the order in which they are looked at; empty for a server that needs none."""
        return (self.key_variable, *self.other_key_variables) if self.key_variable else ()

    def key_in(self, environ: Mapping[str, str]) -> str:
        """The key that the environment holds, or nothing."""
        return next((key for name in self.key_variables if (key := environ.get(name, "").strip())), "")


class Prices(Value, frozen=True):
    """Dollars per million tokens. Reasoning is billed as output."""

    input: float
    output: float
    cache_read: float
    cache_write: float


class ModelInfo(Value, frozen=True):
    """What is known of one model; None means unknown. `long` are the prices from `long_from` input tokens on."""

    window: int | None = None
    max_output: int | None = None
    prices: Prices | None = None
    long: Prices | None = None
    long_from: int = 0


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
        ),
        Vendor(
            "openai-responses",
            "OpenAI Responses",
            "openai_responses",
            base_url="https://api.openai.com/v1",
            key_variable="OPENAI_API_KEY",
        ),
        Vendor(
            "openrouter",
            "OpenRouter",
            "openai_chat",
            base_url="https://openrouter.ai/api/v1",
            key_variable="OPENROUTER_API_KEY",
            default_model="openrouter/auto",
            reasoning_field="reasoning",
        ),
        Vendor(
            "deepseek",
            "DeepSeek",
            "openai_chat",
            base_url="https://api.deepseek.com",
            key_variable="DEEPSEEK_API_KEY",
            default_model="deepseek-v4-pro",
            reasoning_field="reasoning_content",
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
        ),
        # Its compatible API refuses to be asked for counts, and sends them anyway.
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
            "huggingface",
            "Hugging Face",
            "openai_chat",
            base_url="https://router.huggingface.co/v1",
            key_variable="HF_TOKEN",
        ),
        Vendor(
            "bedrock",
            "Amazon Bedrock",
            "library",
            base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
            key_variable="AWS_BEARER_TOKEN_BEDROCK",
            base_url_variable="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
            packages=("boto3",),
            credentials="AWS credentials (AWS_PROFILE, `aws sso login`) and a region in AWS_REGION",
        ),
        Vendor(
            "vertex",
            "Google Vertex AI",
            "library",
            base_url="https://aiplatform.googleapis.com",
            packages=("google.genai", "anthropic"),
            credentials="Google credentials (`gcloud auth application-default login`) and GOOGLE_CLOUD_PROJECT",
        ),
        Vendor(
            "azure",
            "Azure OpenAI",
            "library",
            base_url="https://openai.azure.com",
            key_variable="AZURE_OPENAI_API_KEY",
            base_url_variable="AZURE_OPENAI_ENDPOINT",
            packages=("openai",),
        ),
        Vendor(
            "azure-responses",
            "Azure OpenAI Responses",
            "library",
            base_url="https://openai.azure.com",
            key_variable="AZURE_OPENAI_API_KEY",
            base_url_variable="AZURE_OPENAI_ENDPOINT",
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
            packages=("openai",),
            credentials="the sign-in of the Codex CLI (`codex login`)",
        ),
        Vendor("ollama", "Ollama", "openai_chat", base_url="http://127.0.0.1:11434/v1", local=True),
        Vendor("lmstudio", "LM Studio", "openai_chat", base_url="http://127.0.0.1:1234/v1", local=True),
        Vendor("llamacpp", "llama.cpp", "openai_chat", base_url="http://127.0.0.1:8080/v1", local=True),
        Vendor("scripted", "The scripted model", "scripted", local=True),
    )
}

_FREE = Prices(0.0, 0.0, 0.0, 0.0)

MODELS = {
    "anthropic/claude-opus-5-5": ModelInfo(1_000_000, 128_000, Prices(4.0, 20.0, 0.2, 5.0)),
    "anthropic/claude-opus-5": ModelInfo(1_000_000, 128_000, Prices(5.0, 25.0, 0.5, 6.25)),
    "anthropic/claude-sonnet-5-5": ModelInfo(1_000_000, 128_000, Prices(2.0, 10.0, 0.1, 2.5)),
    "anthropic/claude-sonnet-5": ModelInfo(1_000_000, 128_000, Prices(2.0, 10.0, 0.2, 2.5)),
    "anthropic/claude-sonnet-4-6": ModelInfo(1_000_000, 64_000, Prices(3.0, 15.0, 0.3, 3.75)),
    "anthropic/claude-haiku-4-5": ModelInfo(200_000, 64_000, Prices(1.0, 5.0, 0.1, 1.25)),
    "openai/gpt-6-astra": ModelInfo(
        1_050_000, 128_000, Prices(10.0, 50.0, 1.0, 12.5), Prices(20.0, 75.0, 2.0, 25.0), 272_000
    ),
    "openai/gpt-5.6": ModelInfo(1_050_000, 128_000, Prices(2.0, 10.0, 0.2, 2.5), Prices(4.0, 15.0, 0.4, 5.0), 272_000),
    "openai/gpt-5-mini": ModelInfo(400_000, 128_000, Prices(0.25, 2.0, 0.025, 0.25)),
    # DeepSeek asks half of this outside its peak hours.
    "deepseek/deepseek-v4-pro": ModelInfo(1_048_576, 384_000, Prices(1.32, 3.96, 0.044, 1.32)),
    "deepseek/deepseek-v4-flash": ModelInfo(1_000_000, 384_000, Prices(0.44, 1.32, 0.014, 0.44)),
    "groq/openai/gpt-oss-120b": ModelInfo(131_072, 65_536, Prices(0.15, 0.6, 0.075, 0.15)),
    "mistral/mistral-medium-latest": ModelInfo(256_000, 256_000, Prices(1.5, 7.5, 1.5, 1.5)),
    "xai/grok-4.7": ModelInfo(500_000, 500_000, Prices(2.0, 6.0, 0.5, 2.0), Prices(4.0, 12.0, 1.0, 4.0), 200_000),
    # Google asks half of this until the end of November 2026, and for 3.8 Flash until the end of the year.
    "gemini/gemini-4-argon": ModelInfo(1_048_576, 65_536, Prices(4.0, 20.0, 0.2, 4.0)),
    "gemini/gemini-3.8-flash": ModelInfo(1_048_576, 65_536, Prices(1.5, 7.5, 0.15, 1.5)),
    "gemini/gemini-3.5-flash": ModelInfo(1_048_576, 65_536, Prices(1.5, 9.0, 0.15, 1.5)),
    "gemini/gemini-3.1-pro-preview": ModelInfo(
        1_048_576, 65_536, Prices(2.0, 12.0, 0.2, 2.0), Prices(4.0, 18.0, 0.4, 4.0), 200_000
    ),
    "gemini/gemini-3.1-flash-lite": ModelInfo(1_048_576, 65_536, Prices(0.25, 1.5, 0.025, 0.25)),
}


def vendor(name: str) -> Vendor:
    """Raises UsageError, listing the known ones, for an unknown name."""
    if name in VENDORS:
        return VENDORS[name]
    raise UsageError(f"There is no provider {name!r}.", f"Known providers: {', '.join(VENDORS)}.")


def model_info(vendor: Vendor, model: str) -> ModelInfo:
    """What is known of a vendor's model; all None when nothing is. A dated name stands for its undated one."""
    if vendor.local:
        return ModelInfo(prices=_FREE)
    known = MODELS.get(f"{vendor.name}/{model}")
    undated, _, date = model.rpartition("-")
    if known is None and len(date) == 8 and date.isdigit():
        known = MODELS.get(f"{vendor.name}/{undated}")
    return known or ModelInfo()


def cost(info: ModelInfo, usage: Usage) -> float | None:
    """Dollars for one request; None when the prices are unknown."""
    prices = info.prices
    if info.long is not None and usage.input + usage.cache_read + usage.cache_write > info.long_from:
        prices = info.long
    if prices is None:
        return None
    dollars = (
        usage.input * prices.input
        + usage.output * prices.output
        + usage.cache_read * prices.cache_read
        + usage.cache_write * prices.cache_write
    )
    return dollars / 1_000_000
