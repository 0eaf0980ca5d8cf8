"""The host of a task's tools, with what the program gives in place of this machine."""

from msgspec.structs import replace

from halocline.hosts.own.search import OwnSearch
from halocline.hosts.own.shell import OwnShell
from halocline.ports.own import Host
from halocline.ports.tool import ToolHost


def with_own_parts(tools: ToolHost, own: Host) -> ToolHost:
    """Return the host of a task, whose files are the program's already if it has own ones, with its other parts."""
    if own.files:
        tools = replace(tools, search=OwnSearch(tools.files))
    return replace(tools, shell=OwnShell(own.shell)) if own.shell else tools
