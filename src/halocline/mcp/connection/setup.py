"""Parts that all servers of a task share: workspace, environment, stores and callbacks."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from halocline.mcp.cache import Offers
from halocline.mcp.pins import Pins
from halocline.mcp.variables import Filled, server_environment
from halocline.net.network import DIRECT, Network
from halocline.ports.blobs import Blobs
from halocline.ports.programs import Programs
from halocline.protocol.errors import HaloclineError
from halocline.protocol.secrets.secret import Secret

NO_PROGRAM = "program not found: {command}; install it, or set its full path"


FORGOTTEN = ("session terminated", "session not found", "invalid session id")
"""Messages of HTTP servers, and of the SDK, for a session that the server no longer knows."""


class Broken(HaloclineError):
    """The connection to a server failed or ended."""


class Refused(HaloclineError):
    """The server answered with an error."""


class Hopeless(Broken):
    """Retrying cannot help: a person has to do something first."""


class SignInNeeded(Hopeless):
    """The server needs a person to sign in first."""


class Secrets(Protocol):
    """The token store."""

    def get(self, name: str) -> Secret | None: ...

    def put(self, name: str, secret: Secret) -> object: ...


class Visitor(Protocol):
    """A person who signs in: sees a page and is redirected to `url`."""

    @property
    def url(self) -> str: ...

    def show(self, url: str) -> None: ...

    async def wait_for_redirect(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Setup:
    """The parts of one task that its servers need. `keys` are variables that a project's file may not use.

    `sampling`: servers may ask the task's model. `folders` are roots besides the workspace; `passed` are
    variables that every program gets although they look like secrets.
    """

    workspace: Path
    programs: Programs
    env: Mapping[str, str]
    keys: frozenset[str]
    blobs: Blobs
    offers: Offers
    pins: Pins
    logs: Path
    version: str
    tell: Callable[[str], None] = lambda text: None
    network: Callable[[str], Network] = lambda url: DIRECT
    secrets: Secrets | None = None
    visitor: Visitor | None = None
    sampling: bool = False
    folders: tuple[Path, ...] = ()
    passed: tuple[str, ...] = ()

    def folder_of(self, filled: Filled) -> str:
        """Return the folder in which a server runs."""
        return str(self.workspace / os.path.expanduser(filled.cwd))

    def find_program(self, filled: Filled) -> str | None:
        """Find a server's program, from its folder or on the PATH."""
        command = os.path.join(self.folder_of(filled), filled.command) if "/" in filled.command else filled.command
        return shutil.which(command, path=server_environment(filled.env, self.env, self.passed).get("PATH"))
