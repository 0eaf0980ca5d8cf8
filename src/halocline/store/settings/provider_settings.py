"""Settings of single providers and models, and the number types of all settings."""

from typing import Annotated, Literal

import msgspec

from halocline.protocol.values import Value

Count = Annotated[int, msgspec.Meta(ge=1)]
Tokens = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(gt=0)]
NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
Says = msgspec.Meta


class Price(Value, frozen=True, forbid_unknown_fields=True):
    """Your facts about a model: US dollars per million tokens, sizes in tokens. None: use the catalogue's."""

    input: NotNegative | None = None
    output: NotNegative | None = None
    cache_read: NotNegative | None = None
    cache_write: NotNegative | None = None
    window: Count | None = None
    max_output: Count | None = None

    def __post_init__(self) -> None:
        """Raise ValueError, which msgspec turns into its ValidationError."""
        if (self.input is None) != (self.output is None):
            raise ValueError("set both input and output, or neither")


class ProviderSignIn(Value, frozen=True, forbid_unknown_fields=True):
    """A sign-in in the browser (OpenID Connect) in place of a key: `halo login NAME`.

    `callback` is the address that the client is registered with, such as `http://localhost:8400/callback`.
    """

    issuer: str
    client_id: str
    scopes: str = "openid offline_access"
    callback: str = ""


class Provider(Value, frozen=True, forbid_unknown_fields=True):
    """Your own provider, or changes to a built-in one. None keeps the built-in value."""

    family: Literal["anthropic", "openai_chat", "openai_responses", "gemini", "ollama"] | None = None
    base_url: str | None = None
    key_variable: str | None = None
    key_header: str | None = None
    headers: dict[str, str] | None = None
    title: str | None = None
    local: bool | None = None
    max_tokens_field: str | None = None
    reasoning_field: str | None = None
    usage_on_request: bool | None = None
    streams: bool | None = None
    entra_scope: str | None = None
    sign_in: ProviderSignIn | None = None
    sizes: Literal["", "ollama", "lmstudio", "llamacpp", "litellm"] | None = None


class Timeouts(Value, frozen=True, forbid_unknown_fields=True):
    """Timeouts in seconds for one provider; None uses the general setting."""

    connect: Amount | None = None
    first_byte: Amount | None = None
    stall: Amount | None = None
