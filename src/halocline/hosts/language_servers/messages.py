"""Messages of the language server protocol: our capabilities, and the parts of a server's messages that we read."""

import msgspec

from halocline.hosts.language_servers.diagnostics import Diagnostic
from halocline.protocol.values import JsonObject

CAPABILITIES: JsonObject = {
    "textDocument": {
        "synchronization": {"didSave": True},
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": False},
        "diagnostic": {"dynamicRegistration": False},
    },
    "workspace": {"configuration": True, "workspaceFolders": True, "didChangeWatchedFiles": {}},
    "window": {"workDoneProgress": True},
}


class Published(msgspec.Struct):
    uri: str
    diagnostics: list[Diagnostic] = []
    version: int | None = None


class Report(msgspec.Struct):
    kind: str = "full"
    items: list[Diagnostic] = []


class Section(msgspec.Struct):
    section: str = ""


class Configuration(msgspec.Struct):
    items: list[Section] = []


class Stage(msgspec.Struct):
    kind: str = ""


class Progress(msgspec.Struct):
    token: int | str = ""
    value: Stage = msgspec.field(default_factory=Stage)


class Abilities(msgspec.Struct):
    diagnosticProvider: dict[str, object] | bool | None = None


class Initialized(msgspec.Struct):
    capabilities: Abilities = msgspec.field(default_factory=Abilities)
