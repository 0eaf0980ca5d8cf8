"""OpenRouter's sign-in for programs: OAuth with PKCE, https://openrouter.ai/docs/guides/overview/auth/oauth

The program opens a page with the hash of a secret verifier; the browser returns with a code; code and verifier
together can be exchanged for a key, once.
"""

from secrets import token_urlsafe
from urllib.parse import urlencode, urlsplit

import msgspec

from halocline._version import __version__
from halocline.net.http import fetch
from halocline.protocol import json_input
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import JsonObject
from halocline.providers.auth.oidc import METHOD, hash_verifier
from halocline.providers.endpoint import Endpoint
from halocline.providers.errors import classify_refusal, describe_failure

_REFUSALS = (400, 403)


class Exchange:
    """One sign-in at one server. Holds the secret verifier. The page's callback proves what `state` does elsewhere."""

    state = ""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._verifier = Secret(token_urlsafe(48))

    async def find_page(self, callback: str) -> str:
        """Return the page to open in the browser; it redirects to `callback`."""
        query = {
            "callback_url": callback,
            "code_challenge": hash_verifier(self._verifier),
            "code_challenge_method": METHOD,
            "key_label": "Halocline",
        }
        place = urlsplit(self._endpoint.url)
        return f"{place.scheme}://{place.netloc}/auth?{urlencode(query)}"

    async def key_for(self, code: str) -> Secret:
        """Exchange a code for a key. Raises ModelError."""
        body = {"code": code, "code_verifier": self._verifier.reveal(), "code_challenge_method": METHOD}
        at, headers = self._endpoint, {"content-type": "application/json", "user-agent": f"halocline/{__version__}"}
        answer = await fetch(f"{at.url}/auth/keys", at.network, headers, msgspec.json.encode(body), most=65_536)
        if answer.status in _REFUSALS:
            raise describe_failure("code_rejected", status=answer.status)
        if answer.status != 200:
            raise classify_refusal(answer.status, answer.body, answer.headers, at)
        key = json_input.decode_or({}, answer.body, JsonObject).get("key")
        if not isinstance(key, str):
            # The answer is not shown: it may contain the key.
            raise describe_failure("no_key")
        return Secret(key)
