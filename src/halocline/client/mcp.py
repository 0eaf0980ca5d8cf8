"""MCP servers: those that are set up, what they offer, the registry, bundles."""

from halocline.mcp.registry.bundles import (
    Bundle as Bundle,
    BundleField as BundleField,
    build_server_entry as build_server_entry,
    describe_bundle as describe_bundle,
    list_wanted_fields as list_wanted_fields,
    name_bundle as name_bundle,
)
from halocline.mcp.registry.registry import (
    InstallOption as InstallOption,
    OfferedServer as OfferedServer,
    list_install_options as list_install_options,
)
from halocline.ports.mcp_servers import Server as Server, ServerEntry as ServerEntry, ServerOwner as ServerOwner
from halocline.runtime.prompts.mcp_prompts import list_prompts as list_prompts
from halocline.services.mcp.details import (
    ServerDetail as ServerDetail,
    ServerService as ServerService,
    ToolResponse as ToolResponse,
)
from halocline.services.mcp.servers import (
    ListedServer as ListedServer,
    McpService as McpService,
    describe_server_entry as describe_server_entry,
)
from halocline.services.mcp.trials import ServerTrial as ServerTrial
from halocline.store.mcp.servers import check_name as check_name, read_given_servers as read_given_servers
