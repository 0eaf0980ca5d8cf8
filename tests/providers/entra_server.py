"""A server that gives tokens as Entra ID and the identity services of Azure's machines do."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

from tests.servers.server_connection import ClientGone, ReceivedRequest, ServerConnection

TENANT, CLIENT, SECRET = "11111111-2222-3333-4444-555555555555", "client-id", "client-secret"
SCOPE = "https://cognitiveservices.azure.com/.default"
HEADER = "header-of-the-identity-service"


def token_name(number: int) -> str:
    return f"access-token-of-entra-id-{number}"


class TokenServer:
    """Gives `token_name(1)`, `token_name(2)` …, each for `lifetime` seconds."""

    def __init__(self) -> None:
        self.url = ""
        self.lifetime = 3600
        self.requests: list[ReceivedRequest] = []
        self.given = 0

    @property
    def asked(self) -> list[str]:
        """The paths that were asked, without the documents about the server."""
        paths = (urlsplit(request.path).path for request in self.requests)
        return [path for path in paths if not path.endswith("openid-configuration")]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ServerConnection(reader, writer, 1, 0)
        try:
            while (request := await connection.request()) is not None:
                self.requests.append(request)
                await connection.send_document(*self._answer(request))
        except ClientGone:
            pass
        finally:
            writer.close()

    def _answer(self, request: ReceivedRequest) -> tuple[int, object]:
        where = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(where.query).items()}
        match where.path:
            case path if path == f"/{TENANT}/v2.0/.well-known/openid-configuration":
                root = f"{self.url}/{TENANT}"
                pages = {"token_endpoint": f"{root}/oauth2/v2.0/token", "authorization_endpoint": f"{root}/authorize"}
                return 200, pages | {"issuer": f"{root}/v2.0"}
            case path if path == f"/{TENANT}/oauth2/v2.0/token":
                return self._answer_client(request)
            case "/msi/token" if request.headers.get("x-identity-header") == HEADER:
                return self._give(query["resource"])
            case "/metadata/identity/oauth2/token" if request.headers.get("metadata") == "true":
                return self._give(query["resource"])
        return 404, {"error": "not_found", "error_description": "There is nothing here."}

    def _answer_client(self, request: ReceivedRequest) -> tuple[int, object]:
        form = {name: values[0] for name, values in parse_qs(request.raw.decode()).items()}
        wanted = {"grant_type": "client_credentials", "client_id": CLIENT, "scope": SCOPE}
        assert wanted.items() <= form.items(), form
        if form["client_secret"] != SECRET:
            text = "AADSTS7000215: Invalid client secret provided. Trace ID: 0f"
            return 401, {"error": "invalid_client", "error_description": text}
        return self._give(SCOPE.removesuffix("/.default"))

    def _give(self, resource: str) -> tuple[int, object]:
        assert resource == SCOPE.removesuffix("/.default")
        self.given += 1
        ends = {"expires_in": self.lifetime, "expires_on": str(int(time.time()) + self.lifetime)}
        return 200, {"token_type": "Bearer", "access_token": token_name(self.given), "resource": resource, **ends}


@asynccontextmanager
async def token_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[TokenServer]:
    """A running server: Entra ID with `tls`, else a machine's identity service."""
    served = TokenServer()
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    served.url = f"https://localhost:{port}" if tls else f"http://127.0.0.1:{port}"
    try:
        yield served
    finally:
        server.close()
        await server.wait_closed()
