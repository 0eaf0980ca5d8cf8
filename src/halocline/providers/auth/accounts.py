"""What a person needs to know to get a vendor's key and to recognise it: data, read on the way to `halo login`."""

from halocline.net.address import address_of
from halocline.protocol.values import Value
from halocline.providers.catalog.vendors import VENDORS, Vendor

_SHORTEST = 16


class Account(Value, frozen=True):
    """`keys_page` is where keys are made, `prefix` how this vendor's begin and no other's do.

    `check_path` is asked where the list of models is open to everybody, so that it says nothing about a key. Who
    `signs_in` gives keys to programs through a page in the browser.
    """

    keys_page: str
    prefix: str = ""
    check_path: str = ""
    signs_in: bool = False


ACCOUNTS = {
    "anthropic": Account("https://platform.claude.com/settings/keys", "sk-ant-"),
    "openai": Account("https://platform.openai.com/api-keys"),
    "openrouter": Account("https://openrouter.ai/settings/keys", "sk-or-", check_path="/key", signs_in=True),
    "deepseek": Account("https://platform.deepseek.com/api_keys"),
    "groq": Account("https://console.groq.com/keys", "gsk_"),
    "mistral": Account("https://console.mistral.ai/api-keys"),
    "xai": Account("https://console.x.ai", "xai-"),
    "together": Account("https://api.together.ai/settings/api-keys"),
    "gemini": Account("https://aistudio.google.com/api-keys"),
}

_UNKNOWN = Account("")


def account_of(vendor: Vendor) -> Account:
    """What is known of a vendor's keys; nothing of one that was added since."""
    return ACCOUNTS.get(key_holder(vendor).name, _UNKNOWN)


def key_holder(vendor: Vendor) -> Vendor:
    """The vendor under whose name a key is kept: rows that read the same variable share it."""
    return next((row for row in VENDORS.values() if row.key_variable == vendor.key_variable), vendor)


def secret_name(vendor: Vendor, url: str) -> str:
    """The name under which the key for a server is stored. A key belongs to one server, and goes to no other."""
    name = key_holder(vendor).name
    own = address_of(VENDORS.get(vendor.name, vendor).base_url)  # settings may have moved the row to another server
    here = address_of(url)
    if here is None or here == own:
        return name
    return f"{name}@{'https' if here.tls else 'http'}://{here.authority}"


def shape_problem(key: str, vendor: Vendor, *, elsewhere: bool) -> tuple[str, str] | None:
    """What is wrong with a text that should be a key, and what to do; None when nothing is seen.

    Servers `elsewhere` may take any word for a key. None of the text is repeated.
    """
    alone = "Copy the key again, alone."
    if not key:
        return "There is no key.", f"Keys are made at {account_of(vendor).keys_page}" if account_of(
            vendor
        ).keys_page else ""
    if not (key.isascii() and key.isprintable()):
        return "That holds characters that no key has.", alone
    if " " in key:
        return "That is more than one word, and a key is one.", alone
    if key.startswith((*vendor.key_variables, "Bearer", "https:")):
        return "That is not the key itself but something around it.", alone
    if elsewhere:
        return None
    if len(key) < _SHORTEST:
        return f"That is too short for a key: {len(key)} characters.", alone
    prefix, other = account_of(vendor).prefix, _guess_maker(key)
    if other and other != key_holder(vendor).name:
        return f"That looks like a key for {VENDORS[other].title}.", f"To store it: halo login {other}"
    if prefix and not key.startswith(prefix):
        return f"That is no key for {vendor.title}: those begin with {prefix}", alone
    return None


def _guess_maker(key: str) -> str:
    """Who makes keys that begin like this one; empty when nothing is known."""
    return next((name for name, row in ACCOUNTS.items() if row.prefix and key.startswith(row.prefix)), "")
