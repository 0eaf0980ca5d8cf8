"""Network access: the HTTP client, proxies, TLS. It knows nothing about models; every package above may use it."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.net import inflating as inflating, network_failures as network_failures
else:
    __getattr__ = load_modules_of(__name__)
