"""One model vendor as data: its API family and its differences from that."""

from collections.abc import Mapping
from typing import Any, Literal

from halocline.protocol.values import Value

Family = Literal[
    "anthropic",
    "openai_chat",
    "openai_responses",
    "gemini",
    "ollama",
    "sap",
    "library",
    "vscode",
    "scripted",
    "search",
    "plugin",
]


class Oidc(Value, frozen=True):
    """A sign-in in the browser, at a server of OpenID Connect. `client` is how it knows this program.

    `callback` is the address on this machine that the client is registered with; empty: at any port.
    """

    issuer: str
    client: str
    scopes: str = "openid offline_access"
    callback: str = ""


class Vendor(Value, frozen=True):
    """A provider's address and its differences from its API family.

    `other_key_variables` are read when `key_variable` is not set. `max_tokens_field` and `reasoning_field` name request
    fields: the limit of the reply, and where the server wants its own reasoning back (empty: where it came from).
    `reasoning_filler` stands there in replies without reasoning, where the server refuses these (None: it does not).
    `thinking_style` names a row of `thinking_table.json`: the fields that control thinking. `cache_key_field` takes
    the key that related requests share; `answer_schemas` is a pattern of the models that accept an output schema
    together with tools; both apply only at the vendor's own address. `local` servers need no key.
    Servers that do not `streams` replies send them whole (family `openai_chat` alone).
    `family_elsewhere` is the API family of servers at another address under the vendor's name, if it differs.

    `catalogue` is its name in the catalog, if different. `base_url_path` is appended to the address in
    `base_url_variable` when that is only a host. `key_header` takes the key in place of `authorization`; `headers` go
    with every request, and `$NAME` in their values is read from the environment. `claude_fields` are added to requests
    for Claude models so that the prompt is cached (Claude's servers cache only on request). `sizes` names how to ask
    the server about its models (`server_probe`); empty: like OpenAI's. `shared_key`: the key gives access to more than
    models, so commands may see it. `entra_scope`: without a key, requests carry a token of Microsoft Entra ID for this
    scope. `sign_in`: the key may be a sign-in, whose tokens requests carry. `packages` are imported for it by the
    family `library`; `credentials` describes what that finds by itself when there is no key.
    """

    name: str
    title: str
    family: Family
    base_url: str = ""
    key_variable: str = ""
    family_elsewhere: Family | None = None
    other_key_variables: tuple[str, ...] = ()
    base_url_variable: str = ""
    default_model: str = ""
    local: bool = False
    max_tokens_field: str = "max_tokens"
    reasoning_field: str = ""
    reasoning_filler: str | None = None
    thinking_style: str = "effort"
    cache_key_field: str = ""
    answer_schemas: str = ""
    usage_on_request: bool = True
    streams: bool = True
    catalogue: str = ""
    base_url_path: str = ""
    key_header: str = ""
    headers: dict[str, str] = {}
    claude_fields: dict[str, Any] = {}
    sizes: str = ""
    shared_key: bool = False
    entra_scope: str = ""
    sign_in: Oidc | None = None
    packages: tuple[str, ...] = ()
    credentials: str = ""

    @property
    def is_free(self) -> bool:
        """True if its models are known to cost nothing. The prices of a server that may take a key are unknown."""
        return self.local and not self.key_variable

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The variables that may hold the key, in order; empty for a server that needs none."""
        return (self.key_variable, *self.other_key_variables) if self.key_variable else ()

    def key_in(self, environ: Mapping[str, str]) -> str:
        """Return the key from the environment, or ""."""
        return next((key for name in self.key_variables if (key := environ.get(name, "").strip())), "")
