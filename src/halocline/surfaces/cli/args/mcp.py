"""Arguments of `halo mcp`."""

import argparse
from typing import get_args

from halocline.protocol.events.mcp import Order
from halocline.surfaces.cli.args.parser import APPROVAL_MODES, JSON_LINES, Parser

PROJECT = "share it with everyone who works in this folder"
_ACTIONS = "list|test|doctor|logs|add|remove|enable|disable|search|show|install|login|logout|serve"


_VALUES = frozenset({"-C", "--cwd", "--type", "-e", "--env", "-H", "--header", "--timeout", "--start-timeout"})
"""Options of `add` whose value is the next word."""


class McpParser(Parser):
    """Takes everything after `--` as the command of a server; for `add`, everything from the word after the name."""

    def read(self, words: list[str]) -> argparse.Namespace:
        own, command = _split_command(words)
        arguments = self.parse_args(self.with_action(own))
        if command:
            if arguments.action != "add":
                self.error(f"{arguments.action} takes no command: {' '.join(command)}")
            arguments.words = [*arguments.words, *command]
        return arguments


def _split_command(words: list[str]) -> tuple[list[str], list[str]]:
    """Split off the command, or URL, of a server. Options of ours may follow a URL, but no command."""
    end = words.index("--") if "--" in words else len(words)
    start = _second_name(words[:end]) if words[:1] == ["add"] else None
    if start is None:
        return words[:end], words[end + 1 :]
    if "://" in words[start]:
        return [*words[:start], *words[start + 1 : end]], [words[start], *words[end + 1 :]]
    return words[:start], words[start:]


def _second_name(words: list[str]) -> int | None:
    """Return where the second word stands that is neither an option nor the value of one."""
    is_value = [True, *(word in _VALUES for word in words[:-1])]
    names = [at for at, word in enumerate(words) if not is_value[at] and not word.startswith("-")]
    return names[1] if len(names) > 1 else None


def mcp_parser() -> Parser:
    whole = McpParser(
        alone="list", prog="halo mcp", description="Manage MCP servers: local programs or URLs that provide more tools."
    )
    actions = whole.add_subparsers(parser_class=Parser, dest="action", required=True, metavar=_ACTIONS)
    for name, text in (
        ("list", "list your servers and the tokens they take"),
        ("doctor", "test all servers and report problems"),
    ):
        action = _add_action(actions, name, text)
        action.add_argument("--json", action="store_true", help=JSON_LINES)
    test = _add_action(actions, "test", "start servers, show what they offer, and stop them")
    test.add_argument("names", nargs="*", metavar="NAME", help="servers; default: all")
    test.add_argument("--json", action="store_true", help=JSON_LINES)
    logs = _add_action(actions, "logs", "show the log of a server")
    logs.add_argument("name", metavar="NAME", help="the server")
    logs.add_argument("-n", "--lines", type=int, default=50, metavar="N", help="number of lines (default: 50)")
    for name, text in (
        ("login", "sign in to a server in the browser"),
        ("logout", "sign out of a server"),
        ("remove", "remove a server"),
        ("enable", "enable a server"),
        ("disable", "disable a server without removing it"),
    ):
        _add_action(actions, name, text).add_argument("name", metavar="NAME", help="the server")
    _add_server_action(actions)
    serve = _add_action(actions, "serve", "run as an MCP server on standard input, for other agents")
    serve.add_argument("-m", "--model", metavar="PROVIDER/MODEL", help="the model to use")
    serve.add_argument("--approval-mode", choices=APPROVAL_MODES, help="which actions run without approval")
    _add_registry_actions(actions)
    return whole


def _add_server_action(actions: "argparse._SubParsersAction[Parser]") -> None:
    add = _add_action(actions, "add", "add a server: halo mcp add NAME COMMAND …, or halo mcp add NAME URL")
    add.add_argument("name", metavar="NAME", help="its name here")
    add.add_argument("words", nargs="*", metavar="COMMAND|URL", help="command to run, or URL")
    add.add_argument("--project", action="store_true", help=PROJECT)
    add.add_argument("--type", default="", metavar="TYPE", help="stdio, sse or streamableHttp; default: detected")
    add.add_argument("-e", "--env", action="append", default=[], metavar="NAME=VALUE", help="environment variable")
    add.add_argument("-H", "--header", action="append", default=[], metavar="NAME: VALUE", help="HTTP header")
    add.add_argument("--timeout", type=float, metavar="SECONDS", help="timeout for one call (default: 60)")
    add.add_argument("--start-timeout", type=float, metavar="SECONDS", help="timeout for its start (default: 60)")


def _add_registry_actions(actions: "argparse._SubParsersAction[Parser]") -> None:
    search = _add_action(actions, "search", "search the registry")
    search.add_argument("words", nargs="*", metavar="WORD", help="words of the name or description")
    search.add_argument(
        "-t", "--tag", action="append", default=[], metavar="TAG", help="only with this tag; repeatable"
    )
    search.add_argument("--sort", choices=get_args(Order), help="sort order; default: the registry's")
    search.add_argument("--json", action="store_true", help=JSON_LINES)
    show = _add_action(actions, "show", "show a server of the registry: its install options and README")
    show.add_argument("name", metavar="NAME", help="name from search")
    show.add_argument("--readme", default="", metavar="URL", help="read this README instead")
    install = _add_action(actions, "install", "install a registry server or a bundle, after showing what it runs")
    install.add_argument("name", metavar="NAME|FILE.mcpb|URL.mcpb", help="name from search, or a bundle")
    install.add_argument("--as", dest="called", default="", metavar="NAME", help="its name here")
    install.add_argument("--project", action="store_true", help=PROJECT)
    install.add_argument("-s", "--set", action="append", default=[], metavar="NAME=VALUE", help="a value it needs")
    install.add_argument("--way", type=int, default=1, metavar="N", help="number of the install option (default: 1)")
    install.add_argument("--sha256", default="", metavar="HASH", help="required SHA-256 of a bundle")
    install.add_argument("-y", "--yes", action="store_true", help="do not ask")


def _add_action(actions: "argparse._SubParsersAction[Parser]", name: str, text: str) -> Parser:
    action = actions.add_parser(name, help=text)
    action.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the project folder")
    return action
