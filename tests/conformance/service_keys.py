"""A service key of SAP AI Core for our model server."""

import json

from tests.servers.model_server import ModelServer
from tests.servers.sap_format import SECRET


def service_key(server: ModelServer, secret: str = SECRET) -> str:
    root = server.url("sap")
    return json.dumps({"clientid": "me", "clientsecret": secret, "url": root, "serviceurls": {"AI_API_URL": root}})
