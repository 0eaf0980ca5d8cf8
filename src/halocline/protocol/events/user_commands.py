"""Commands that you run yourself (`!`). Exported by `events`.

The model sees them after they end, before its next request: as a command and its output, never as an instruction.
"""

from halocline.protocol.events.durable import Durable
from halocline.protocol.messages import UserPart


class OwnCommandStarted(Durable, frozen=True):
    """You started a command; it needs no approval. `run` is its id; `client` sent it."""

    run: str
    command: str
    client: str = ""
    sandbox: str = ""


class OwnCommandEnded(Durable, frozen=True):
    """Your command ended. `said` describes how, besides its output; `exit_code` is None if it has none.

    Processes that it left running continue as `job`. If it `moved` the shell, commands now start in `cwd` with the
    variables `exported` or unset; `path` is the value of PATH, if it is one of them.
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
    """The model was told which commands you ran and what they printed."""

    content: tuple[UserPart, ...]
