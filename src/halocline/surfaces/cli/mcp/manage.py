"""`halo mcp`: list, test, add and remove MCP servers."""

import argparse
import sys
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from halocline.client.mcp import ListedServer, McpService, ServerTrial
from halocline.client.options import Choices, TaskOptions
from halocline.client.policy import PolicyService
from halocline.client.tasks import open_client
from halocline.installation import extra_command
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.permission_rules import Verdict
from halocline.surfaces import event_loop
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.exit_codes import ExitCode
from halocline.surfaces.cli.mcp.server_entry import read_entry, warn_not_allowed
from halocline.surfaces.cli.stderr import fold_text, print_message, print_raw
from halocline.surfaces.figures import format_plural
from halocline.surfaces.lazy_functions import load_function
from halocline.surfaces.page_opener import open_page
from halocline.surfaces.sanitize import clean, reveal


def command(arguments: argparse.Namespace) -> int:
    service = McpService.open(workspace_of(arguments.cwd))
    if arguments.action in FROM_MARKETPLACE:
        return int(load_function(FROM_MARKETPLACE[arguments.action])(service, arguments))
    return _ACTIONS[arguments.action](service, arguments)


def _list_servers(desk: McpService, arguments: argparse.Namespace) -> int:
    policy = PolicyService.open()
    judged = policy.mcp_tools(policy.policy_context(workspace_of(arguments.cwd), Mode.ACT, None)).all()
    servers = [replace(server, decisions=judged.get(server.name, {})) for server in desk.listed()]
    if arguments.json:
        _as_json(servers)
        return 0
    _report_problems(desk)
    if not servers:
        print("No MCP servers. To add one: halo mcp add NAME COMMAND …")
    for server in servers:
        print(_server_line(server))
        print(f"    {clean(server.runs) or '?'}")
        if server.problem:
            print(f"    {clean(server.problem)}")
        for verdict in Verdict:
            if names := [reveal(tool) for tool, decided in server.decisions.items() if decided == verdict]:
                print(fold_text(", ".join(names), f"    {verdict:<6} ", sys.stdout))
    return 0


def _server_line(server: ListedServer) -> str:
    facts = [clean(server.name), server.transport, server.state]
    if server.tools is not None and server.tokens is not None:
        facts.append(f"{format_plural(server.tools, 'tool')}, about {server.tokens:,} tokens")
    elif server.state == "on":
        facts.append("not started yet")
    owners = {"managed": "the administrator's", "user": "yours", "project": "the project's", "cline": "Cline's"}
    return "  ".join([*facts, f"({owners[server.owner]})"])


def _test_server(desk: McpService, arguments: argparse.Namespace) -> int:
    names = arguments.names or desk.usable()
    if not names:
        raise UsageError("No MCP server to test.", "See: halo mcp list")
    tried = event_loop.run_loop(desk.tried(names))
    if arguments.json:
        _as_json(tried)
    else:
        for each in tried:
            _show_result(each, whole=len(tried) == 1)
    return 0 if all(each.ok for each in tried) else int(ExitCode.ERROR)


def _check_servers(desk: McpService, arguments: argparse.Namespace) -> int:
    _report_problems(desk)
    broken = [server for server in desk.listed() if server.problem]
    names = desk.usable()
    tried = event_loop.run_loop(desk.tried(names)) if names else []
    if arguments.json:
        _as_json([*broken, *tried])
    for server in broken if not arguments.json else ():
        print(f"✗ {clean(server.name)}: {clean(server.problem)}")
    for each in tried if not arguments.json else ():
        _show_result(each, whole=False)
    if not broken and not tried and not arguments.json:
        print("No MCP servers.")
    return 0 if not broken and not desk.problems and all(each.ok for each in tried) else int(ExitCode.ERROR)


def _show_result(tried: ServerTrial, *, whole: bool) -> None:
    name = clean(tried.name)
    if not tried.ok:
        print(f"✗ {name}: {clean(tried.error)}")
        print(f"    full log: halo mcp logs {name}")
        return
    size = f"{format_plural(len(tried.tools), 'tool')}, about {tried.tokens:,} tokens"
    print(f"✓ {name}: {size}, protocol {clean(tried.protocol)}, {tried.seconds:g} s")
    for what in tried.left_out:
        print(f"    not valid MCP, left out: {clean(what)}")
    if not whole:
        return
    for tool in tried.tools:
        words = " ".join(clean(tool.description).split())
        mark = " (read-only, it claims)" if tool.read_only else ""
        print(f"    {reveal(tool.tool)}{mark}  {words[:100] + '…' if len(words) > 100 else words}")
    for prompt in tried.prompts:
        print(f"    /{reveal(prompt)}")
    if tried.resources:
        print("    It has resources.")


def _show_logs(desk: McpService, arguments: argparse.Namespace) -> int:
    lines = desk.log(arguments.name).read_text("utf-8", "replace").splitlines()
    for line in lines[-max(1, arguments.lines) :]:
        print(clean(line))
    return 0


def _add_server(desk: McpService, arguments: argparse.Namespace) -> int:
    given = read_entry(arguments)
    file = desk.add(arguments.name, given, project=arguments.project)
    print(f"Added {clean(arguments.name)} to {clean(str(file))}. To test it: halo mcp test {clean(arguments.name)}")
    warn_not_allowed(desk, arguments.name, given)
    return 0


def _remove_server(desk: McpService, arguments: argparse.Namespace) -> int:
    print(f"Removed {clean(arguments.name)} from {clean(str(desk.remove(arguments.name)))}.")
    return 0


def _switch_server(desk: McpService, arguments: argparse.Namespace) -> int:
    on = arguments.action == "enable"
    desk.switch(arguments.name, on=on)
    print(f"{clean(arguments.name)} is {'enabled' if on else 'disabled'}.")
    return 0


def _log_in(desk: McpService, arguments: argparse.Namespace) -> int:
    tried = event_loop.run_loop(desk.signed_in(arguments.name, _open_page))
    _show_result(tried, whole=False)
    return 0 if tried.ok else int(ExitCode.ERROR)


def _open_page(url: str) -> None:
    print(f"Open this page to sign in:\n  {clean(url)}", flush=True)
    if sys.stdout.isatty():
        open_page(url)


def _log_out(desk: McpService, arguments: argparse.Namespace) -> int:
    gone = desk.sign_out(arguments.name)
    print(f"Signed out of {clean(arguments.name)}." if gone else "You were not signed in.")
    return 0


def _serve_mcp(desk: McpService, arguments: argparse.Namespace) -> int:
    try:
        from halocline.surfaces.cli.mcp.serve import serve_stdio
    except ImportError as error:
        raise UsageError(
            "halo mcp serve needs a package that is not installed.", f"Run: {extra_command('mcp')}"
        ) from error
    chosen = arguments.approval_mode
    approval = ApprovalMode(chosen) if chosen not in (None, "plan") else None
    options = TaskOptions(model=arguments.model, mode=Mode.PLAN if chosen == "plan" else None, approval_mode=approval)
    serve_stdio(open_client(Choices(unattended=True), "mcp"), workspace_of(arguments.cwd), options)
    return 0


def _report_problems(desk: McpService) -> None:
    if desk.is_off:
        print_message("MCP servers are disabled in the settings (mcp.enabled = false).")
    for problem in desk.problems:
        print_message(problem)


def _as_json(values: Sequence[msgspec.Struct]) -> None:
    for value in values:
        print_raw(json_output.encode(value).decode())


FROM_MARKETPLACE = {
    "search": "mcp.marketplace:search_servers",
    "show": "mcp.marketplace:show_server",
    "install": "mcp.marketplace:install_server",
}
_ACTIONS = {
    "list": _list_servers,
    "test": _test_server,
    "doctor": _check_servers,
    "logs": _show_logs,
    "add": _add_server,
    "remove": _remove_server,
    "enable": _switch_server,
    "disable": _switch_server,
    "login": _log_in,
    "logout": _log_out,
    "serve": _serve_mcp,
}
