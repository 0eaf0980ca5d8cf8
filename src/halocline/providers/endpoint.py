"""Where a model is asked and with which key. The key shows in no text and no repr."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from halocline.protocol.errors import UsageError
from halocline.providers.catalog import Family, ModelInfo, Vendor, model_info
from halocline.providers.network import DIRECT, Network


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model of one vendor, and the way there.

    `model` is the vendor's own name for it; `known` is told of it over the catalog.
    """

    vendor: Vendor
    model: str
    key: str = field(default="", repr=False)
    base_url: str = ""
    known: ModelInfo | None = None
    network: Network = DIRECT

    @property
    def name(self) -> str:
        """`provider/model`."""
        return f"{self.vendor.name}/{self.model}"

    @property
    def url(self) -> str:
        return (self.base_url or self.vendor.base_url).rstrip("/")

    @property
    def family(self) -> Family:
        """What is spoken there: the vendor's own family at its own address."""
        elsewhere = self.url != self.vendor.base_url
        return (elsewhere and self.vendor.family_elsewhere) or self.vendor.family

    @property
    def info(self) -> ModelInfo:
        return self.known or model_info(self.vendor, self.model)

    def wire_model(self, wanted: str) -> str:
        """The vendor's name for a request's model, which may be written `provider/model`, or be empty."""
        return wanted.removeprefix(f"{self.vendor.name}/") or self.model

    def without_key(self, text: str) -> str:
        """The same text with the key blotted out, should a server have repeated it."""
        return text.replace(self.key, "[key]") if self.key else text


def endpoint(vendor: Vendor, model: str, environ: Mapping[str, str], *, key: str = "", base_url: str = "") -> Endpoint:
    """Fill in what was not given from the vendor's usual environment variables.

    Raises:
        UsageError: the vendor needs a key and there is none, or it holds characters that no key has.
    """
    base_url = base_url or environ.get(vendor.base_url_variable, "")
    key = key.strip() or vendor.key_in(environ)
    if not key and vendor.key_variable and not (base_url or vendor.credentials):
        hint = f"Set {vendor.key_variable}, or name another provider with -m provider/model."
        raise UsageError(f"There is no key for {vendor.title}: {vendor.key_variable} is not set.", hint)
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"The key for {vendor.title} holds characters that no key has.", "Copy it again, alone.")
    return Endpoint(vendor=vendor, model=model or vendor.default_model, key=key, base_url=base_url)
