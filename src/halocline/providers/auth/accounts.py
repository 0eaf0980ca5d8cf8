"""Vendors' accounts: where to get a key and how to recognize it. Data for `halo login`, by vendor: `accounts.json`."""

from pathlib import Path

from halocline.net.address import address_of
from halocline.protocol import json_input
from halocline.protocol.values import Value
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.catalog.vendors import VENDORS

_SHORTEST = 16


class Account(Value, frozen=True):
    """A vendor's keys. `keys_page` is where you create one; `prefix` is how only this vendor's keys start.

    `check_path` checks a key where the list of models is public. `signs_in`: the vendor issues keys to programs
    through a page in the browser.
    """

    keys_page: str
    prefix: str = ""
    check_path: str = ""
    signs_in: bool = False


ACCOUNTS = json_input.decode(Path(__file__).with_suffix(".json").read_bytes(), type=dict[str, Account])


def account_of(vendor: Vendor) -> Account:
    """Return what is known about a vendor's keys; an empty account for a vendor that is not listed."""
    return Account("", signs_in=True) if vendor.sign_in else ACCOUNTS.get(key_holder(vendor).name, Account(""))


def key_holder(vendor: Vendor) -> Vendor:
    """Return the vendor whose name a key is stored under: rows that read the same variable share a key."""
    return next((row for row in VENDORS.values() if row.key_variable == vendor.key_variable), vendor)


def secret_name(vendor: Vendor, url: str) -> str:
    """Return the name a server's key is stored under. A key belongs to one server and is sent to no other."""
    name = key_holder(vendor).name
    own = address_of(VENDORS.get(vendor.name, vendor).base_url)  # settings may have moved the row to another server
    here = address_of(url)
    if here is None or here == own:
        return name
    return f"{name}@{'https' if here.tls else 'http'}://{here.authority}"


def shape_problem(key: str, vendor: Vendor, *, elsewhere: bool) -> tuple[str, str] | None:
    """Return what looks wrong with a key, and what to do; None when nothing does.

    Servers `elsewhere` may accept any word as a key. The result never repeats the key.
    """
    alone = "Copy just the key and try again."
    account = account_of(vendor)
    if not key:
        return "There is no key.", account.keys_page and f"Create one at {account.keys_page}"
    if not (key.isascii() and key.isprintable()):
        return "That contains characters that keys do not have.", alone
    if " " in key:
        return "That contains spaces; a key is a single word.", alone
    if key.startswith((*vendor.key_variables, "Bearer", "https:")):
        return "That is not the key itself but text from around it.", alone
    if elsewhere:
        return None
    if len(key) < _SHORTEST:
        return f"That is too short for a key: {len(key)} characters.", alone
    prefix = account.prefix
    other = next((name for name, row in ACCOUNTS.items() if row.prefix and key.startswith(row.prefix)), "")
    if other and other != key_holder(vendor).name:
        return f"That looks like a key for {VENDORS[other].title}.", f"To store it: halo login {other}"
    if prefix and not key.startswith(prefix):
        return f"That is not a key for {vendor.title}: those start with {prefix}", alone
    return None
