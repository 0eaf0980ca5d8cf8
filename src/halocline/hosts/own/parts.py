"""The host of a task's tools, with what the program gives in place of this machine."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from halocline.hosts.own.search import OwnSearch
from halocline.hosts.own.shell import OwnShell
from halocline.hosts.shell.output import Spool
from halocline.hosts.shell.shell import SPOOL_CAP
from halocline.ports.own import Host
from halocline.ports.tool import ToolHost


def with_own_parts(tools: ToolHost, own: Host, spool_folder: Path, redact: Callable[[str], str]) -> ToolHost:
    """Return the host of a task, whose files are the program's already if it has own ones, with its other parts.

    Long outputs of commands are kept in `spool_folder` if the tools read this machine's files.
    """
    if own.files:
        tools = replace(tools, search=OwnSearch(tools.files))
    make_spool = partial(Spool, spool_folder, 0 if own.files else SPOOL_CAP)
    return replace(tools, shell=OwnShell(own.shell, make_spool, redact)) if own.shell else tools
