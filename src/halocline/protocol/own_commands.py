"""Commands that the person runs themselves (`!`), beside what the model does; part of `events`.

The model hears of them once they ended, just before its next request: as what was run and printed, never as a wish.
"""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.messages import UserPart


class OwnCommandStarted(Durable, frozen=True):
    """The person runs a command; nobody was asked. `run` names it, as `call` does a call; `client` is who sent it."""

    run: str
    command: str
    client: str = ""
    sandbox: str = ""


class OwnCommandEnded(Durable, frozen=True):
    """Its end. `said` says in words how it ended, beside what it printed; `exit_code` is None when it has none.

    What it left running goes on as `job`. When it `moved` the shell, commands start in `cwd` from now on and find the
    variables `exported` or unset; `path` is the PATH, where it is one of them.
    """

    run: str
    command: str
    output: str = ""
    said: str = ""
    exit_code: int | None = None
    stopped: bool = False
    job: str = ""
    moved: bool = False
    cwd: str = ""
    exported: tuple[str, ...] = ()
    path: str = ""


class OwnCommandsReported(Durable, frozen=True):
    """The model is told what the person ran and what that printed."""

    content: tuple[UserPart, ...]
