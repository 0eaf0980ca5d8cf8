"""What is known of the machine that a task works on: where its commands start, the page it looks at, its sandbox."""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.kinds import SandboxStanding


class ShellMoved(Durable, frozen=True):
    """Commands start in `cwd` from now on (empty: in the workspace), and find these variables exported or unset.

    `path` is the PATH, where it is one of them.
    """

    cwd: str = ""
    exported: tuple[str, ...] = ()
    path: str = ""


class PageShown(Durable, frozen=True):
    """The browser shows this page from now on; empty: none, or no web page."""

    url: str = ""


class SandboxChecked(Durable, frozen=True):
    """What the self-test of the commands' sandbox found. `lacks` are gaps, or why there is none.

    When it is `required`, no command runs without a full one.
    """

    standing: SandboxStanding = SandboxStanding.OFF
    lacks: tuple[str, ...] = ()
    required: bool = False
    way: str = ""
