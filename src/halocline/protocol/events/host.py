"""Events about the task's host: its shell's folder and variables, its browser's page, its sandbox."""

from halocline.protocol.events.durable import Durable
from halocline.protocol.kinds import SandboxStanding


class ShellMoved(Durable, frozen=True):
    """Commands now start in `cwd` (empty: the workspace), with these variables exported or unset.

    `path` is the value of PATH, if it is one of them.
    """

    cwd: str = ""
    exported: tuple[str, ...] = ()
    path: str = ""


class PageShown(Durable, frozen=True):
    """The browser now shows this page; empty: none, or not a web page."""

    url: str = ""


class SandboxChecked(Durable, frozen=True):
    """The sandbox for commands was tested. `lacks` lists its gaps, or why there is none.

    If it is `required`, no command runs without a full sandbox. `network`: sandboxed commands may use the network.
    """

    standing: SandboxStanding = SandboxStanding.OFF
    lacks: tuple[str, ...] = ()
    required: bool = False
    way: str = ""
    network: bool = False
