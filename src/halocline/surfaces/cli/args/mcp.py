"""The words of `halo mcp`."""

import argparse
from typing import get_args

from halocline.protocol.mcp import Order
from halocline.surfaces.cli.args.parser import APPROVAL_MODES, Parser

_ACTIONS = "list|test|doctor|logs|add|remove|enable|disable|search|show|install|login|logout|serve"


def parse_mcp(parser: Parser, given: list[str]) -> argparse.Namespace:
    """The words read: what stands behind `--` is a command, wherever the options of `add` stand. Raises UsageError."""
    at = given.index("--") if "--" in given else len(given)
    arguments = parser.parse_args(given[:at])
    if command := given[at + 1 :]:
        if arguments.action != "add":
            parser.error(f"there is no command for {arguments.action}: {' '.join(command)}")
        arguments.words = [*arguments.words, *command]
    return arguments


def build_mcp_parser() -> Parser:
    """What stands behind `halo mcp`."""
    whole = Parser(prog="halo mcp", description="MCP servers: programs and addresses that bring further tools.")
    actions = whole.add_subparsers(dest="action", required=True, metavar=_ACTIONS)
    for name, text in (
        ("list", "those that are set up, and what they cost"),
        ("doctor", "try all, and say what fails"),
    ):
        action = _add_action(actions, name, text)
        action.add_argument("--json", action="store_true", help="one JSON object a line")
    test = _add_action(actions, "test", "start servers, show what they offer, and end them")
    test.add_argument("names", nargs="*", metavar="NAME", help="without one: all")
    test.add_argument("--json", action="store_true", help="one JSON object a line")
    logs = _add_action(actions, "logs", "what a server printed")
    logs.add_argument("name", metavar="NAME", help="the server")
    logs.add_argument("-n", "--lines", type=int, default=50, metavar="N", help="the last N lines (50)")
    for name, text in (
        ("login", "sign in at a server that wants it, in the browser"),
        ("logout", "forget a sign-in"),
        ("remove", "take a server out of its file"),
        ("enable", "switch a server on"),
        ("disable", "switch a server off, and keep it"),
    ):
        _add_action(actions, name, text).add_argument("name", metavar="NAME", help="the server")
    _add_server_options(actions)
    serve = _add_action(
        actions, "serve", "be an MCP server: let other agents run, list and read tasks, over standard input"
    )
    serve.add_argument("-m", "--model", metavar="PROVIDER/MODEL", help="the model to use")
    serve.add_argument("--approval-mode", choices=APPROVAL_MODES, help="how much is done without asking")
    search = _add_action(actions, "search", "find servers in the registry")
    search.add_argument("words", nargs="*", metavar="WORD", help="of its name or description")
    search.add_argument("-t", "--tag", action="append", default=[], metavar="TAG", help="a tag or category it has")
    search.add_argument("--sort", choices=get_args(Order), help="instead of the registry's own order")
    search.add_argument("--json", action="store_true", help="one JSON object a line")
    show = _add_action(actions, "show", "what a server of the registry is, how it would be run, and its README")
    show.add_argument("name", metavar="NAME", help="its name, as search gives it")
    show.add_argument("--readme", default="", metavar="URL", help="read this page instead of its repository's")
    install = _add_action(
        actions, "install", "set up a server of the registry, or a bundle, after showing what would be run"
    )
    install.add_argument("name", metavar="NAME|FILE.mcpb|URL.mcpb", help="its name, as search gives it, or a bundle")
    install.add_argument("--as", dest="called", default="", metavar="NAME", help="what to call it here")
    install.add_argument("--project", action="store_true", help="for everybody who works in this folder")
    install.add_argument("-s", "--set", action="append", default=[], metavar="NAME=VALUE", help="a value that it wants")
    install.add_argument("--way", type=int, default=1, metavar="N", help="which of the ways that are shown (1)")
    install.add_argument("--sha256", default="", metavar="HASH", help="the SHA-256 that a bundle must have")
    install.add_argument("-y", "--yes", action="store_true", help="do not ask")
    return whole


def _add_server_options(actions: "argparse._SubParsersAction[Parser]") -> None:
    add = _add_action(actions, "add", "set a server up: halo mcp add NAME -- COMMAND …, or halo mcp add NAME URL")
    add.add_argument("name", metavar="NAME", help="what to call it")
    add.add_argument("words", nargs="*", metavar="COMMAND|URL", help="what to run, or where it is")
    add.add_argument("--project", action="store_true", help="for everybody who works in this folder")
    add.add_argument("--type", default="", metavar="TYPE", help="stdio, sse or streamableHttp, where it is not plain")
    add.add_argument("-e", "--env", action="append", default=[], metavar="NAME=VALUE", help="a variable it gets")
    add.add_argument("-H", "--header", action="append", default=[], metavar="NAME: VALUE", help="a header to send")
    add.add_argument("--timeout", type=float, metavar="SECONDS", help="how long one call may take (60)")


def _add_action(actions: "argparse._SubParsersAction[Parser]", name: str, text: str) -> Parser:
    action = actions.add_parser(name, help=text)
    action.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the folder")
    return action
