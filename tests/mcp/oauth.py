"""An MCP server that wants a sign-in, and the server of the sign-in, both made with the official SDK."""

import secrets
import socket
import time

from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken


class Provider:
    """Signs everybody in at once. Access tokens live as long as `lifetime` says, in seconds."""

    def __init__(self, lifetime: int = 3600) -> None:
        self.lifetime = lifetime
        self.clients = {}
        self.codes = {}
        self.tokens = {}
        self.refreshing = {}
        self.refreshed = 0

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        code = secrets.token_urlsafe(16)
        self.codes[code] = AuthorizationCode(
            code=code,
            client_id=client.client_id,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        return self._issue(client.client_id)

    async def load_refresh_token(self, client, refresh_token):
        return self.refreshing.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        del self.refreshing[refresh_token.token]
        self.refreshed += 1
        return self._issue(client.client_id)

    async def load_access_token(self, token):
        return self.tokens.get(token)

    async def revoke_token(self, token):
        self.tokens.pop(token.token, None)

    def _issue(self, client):
        access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        end = int(time.time()) + self.lifetime
        self.tokens[access] = AccessToken(token=access, client_id=client, scopes=[], expires_at=end)
        self.refreshing[refresh] = RefreshToken(token=refresh, client_id=client, scopes=[])
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=self.lifetime)


def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def guarded(provider: Provider, at: str):
    """The application of a server that is reached at that URL."""
    settings = AuthSettings(
        issuer_url=at,
        resource_server_url=f"{at}/mcp",
        client_registration_options=ClientRegistrationOptions(enabled=True),
        validate_token_resource=False,
    )
    server = MCPServer("guarded", auth_server_provider=provider, auth=settings)

    @server.tool(description="Who is there.")
    def whoami() -> str:
        return "you"

    return server.streamable_http_app()
