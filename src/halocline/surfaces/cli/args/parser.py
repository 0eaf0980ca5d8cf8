"""Parsers of the command line. The reference page of the docs is generated from them."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from halocline._version import __version__
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Effort
from halocline.protocol.secrets.secret import Secret

APPROVAL_MODES = ("ask", "accept-edits", "auto", "yolo", "plan")
OUTPUT_FORMATS = ("text", "json", "stream-json")
EFFORTS = ", ".join(Effort)

COMMANDS = {
    "run": "run one prompt and exit",
    "demo": "watch a scripted model fix a small project: no key, no network",
    "web": "open the chat view in a browser",
    "acp": "serve an editor that speaks the Agent Client Protocol",
    "attach": "join a task that another process is running",
    "tasks": "list, search, show, rename, tag or delete tasks",
    "fork": "start a new task from any point of a task",
    "replay": "re-run a recorded task without a model",
    "import": "import conversations from Cline and other agents",
    "export": "write a task as Markdown, HTML or JSON lines",
    "checkpoints": "list, compare or restore checkpoints of a workspace",
    "storage": "show disk usage, and free space",
    "models": "list models and their prices",
    "rules": "list, explain, create, enable or disable rule files",
    "context": "show what fills a task's context window, and its cost",
    "hooks": "list the hooks of a folder, and which of them run",
    "trust": "choose which folders may run their own hooks and MCP servers",
    "login": "test and store an API key for a provider",
    "logout": "remove a stored key",
    "policy": "explain, test and review permission decisions",
    "todos": "show the to-do list of a task, and the file to edit it in",
    "memory": "show, edit or remove the notes that new tasks start with",
    "mcp": "list, test, add, find or serve MCP servers",
    "doctor": "check this machine and your setup",
}


APPROVALS = "HALOCLINE_APPROVALS"
APPROVALS_TEXT = "Folder for `--approvals`, for unattended runs."
JSON_LINES = "print JSON, one object per line"
ADD_DIR = "also work in this folder; repeatable"
FROM_ELSEWHERE = {"help": "--help", "version": "--version"}
"""Commands of other programs, and the flag that `halo` has instead."""


class Parser(argparse.ArgumentParser):
    """Raises UsageError instead of exiting, so that one place reports errors. Flags cannot be abbreviated."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}.", f"See: {self.prog} --help")


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """Read the command line. Raises UsageError."""
    command = argv[0] if argv and argv[0] in COMMANDS else ""
    parser = PARSERS[command]()
    if command == "mcp":
        from halocline.surfaces.cli.args.mcp import parse_mcp

        arguments = parse_mcp(parser, argv[1:])
    elif command not in ("", "run"):
        arguments = parser.parse_args(argv[1:])
    else:
        arguments = parser.parse_intermixed_args(argv[1:] if command else argv)
    if not command and "--" not in argv:
        _refuse_commands(arguments.prompt)
    arguments.command = command
    return arguments


def _refuse_commands(prompt: list[str]) -> None:
    """Raise UsageError for a prompt that looks like a command for `halo`, instead of sending it to a model."""
    if not prompt:
        return
    first, as_prompt = prompt[0], f'To send it as a prompt: halo run "{" ".join(prompt)}"'
    if first in COMMANDS:
        raise UsageError(f"The command {first} must come first.", f"Use: halo {first} … {as_prompt}")
    if meant := FROM_ELSEWHERE.get(first) or _nearest_command(first):
        raise UsageError(f"Unknown command {first!r}.", f"Did you mean: halo {meant}? {as_prompt}")


def _nearest_command(word: str) -> str:
    """The command most similar to `word`; empty when none is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, COMMANDS, n=1, cutoff=0.8)), "")


def _main_parser() -> Parser:
    lines = "\n".join(f"  {name:<12} {text}" for name, text in COMMANDS.items())
    parser = Parser(
        prog="halo",
        usage="halo [options] [prompt]\n       halo COMMAND …",
        description="A coding agent. On a terminal, starts an interactive session.",
        epilog=f"commands:\n{lines}\n\nDetails: halo COMMAND --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"halo {__version__}", help="print the version")
    return _prompt_options(parser)


def _run_parser() -> Parser:
    usage = "halo run [options] [prompt]"
    return _prompt_options(Parser(prog="halo run", usage=usage, description="Run one prompt and exit."))


def _prompt_options(parser: Parser) -> Parser:
    add = parser.add_argument
    add("prompt", nargs="*", help="what to do; text on standard input is appended")
    add("-p", "--print", action="store_true", help="print only the final answer; never ask for approval")
    add("--output-format", choices=OUTPUT_FORMATS, help="text, json (one result object) or stream-json (the event log)")
    add("--output-schema", metavar="FILE", help="JSON Schema of the answer: a file, or the JSON itself")
    add("--image", dest="images", action="append", metavar="FILE", help="attach an image; repeatable")
    _model_options(parser)
    add("--mode", choices=("plan", "act"), help="plan: read only; act: may also make changes")
    add("--approval-mode", choices=APPROVAL_MODES, help="which actions run without approval")
    add("-y", "--yolo", action="store_true", help="run everything without approval, as --approval-mode yolo does")
    add("--approvals", metavar="DIR", help="let another program approve, through files in this folder (see the guide)")
    add("-c", "--continue", dest="continue_", action="store_true", help="resume the newest task of this folder")
    add("-r", "--resume", metavar="ID", help="resume this task")
    add("-C", "--cwd", metavar="DIR", default=".", help="work in this folder")
    add("--add-dir", dest="roots", action="append", metavar="DIR", default=[], help=ADD_DIR)
    add("--max-steps", type=positive_int, metavar="N", help="most steps in one turn")
    add("--max-cost", type=_parse_positive, metavar="USD", help="most US dollars the task may cost")
    _prompt_words(parser)
    add("--trust", action="store_true", help="let the folder's own hooks and MCP servers run, this time only")
    add("--hooks-dir", dest="hook_folders", action="append", metavar="DIR", help="another folder of hooks; repeatable")
    add("--record", metavar="FILE", help="record events and requests to a new file, for halo replay")
    add("--time-limit", type=_parse_positive, metavar="SECONDS", help="longest duration of one turn")
    _network_options(parser)
    return parser


def _model_options(parser: Parser) -> None:
    parser.add_argument("-m", "--model", metavar="PROVIDER/MODEL", help="the model to use")
    parser.add_argument("--profile", metavar="NAME", help="profile of settings.toml to use")
    _server_options(parser)
    parser.add_argument("--effort", type=_parse_effort, metavar="LEVEL", help=f"reasoning effort: {EFFORTS}")
    parser.add_argument(
        "--thinking-budget",
        type=_parse_tokens,
        metavar="TOKENS",
        help="thinking tokens for one reply; overrides --effort",
    )
    parser.add_argument(
        "--text-tools", action="store_const", const=("*",), help="use text tool calls, for models without native ones"
    )


def _prompt_words(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "--context-window",
        type=positive_int,
        metavar="TOKENS",
        help="the model's context window, if Halocline does not know it",
    )
    add("--system-prompt-file", type=_parse_path, metavar="FILE", help="replace the system prompt with this file")
    add(
        "--append-system-prompt",
        type=_parse_words,
        metavar="TEXT",
        help="append this text to the system prompt; @FILE reads it from a file",
    )


def _server_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--base-url", metavar="URL", help="address of the model's server")
    add("--api-key", type=Secret, metavar="KEY", help="API key to use (visible to other users of this machine)")


def _network_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--proxy", metavar="URL", help="proxy for reaching the model, or none")
    add("--ca-file", metavar="FILE", help="additional certificates (PEM) to trust")
    add("--connect-timeout", type=_parse_positive, metavar="SECONDS", help="timeout for connecting")
    add("--first-byte-timeout", type=_parse_positive, metavar="SECONDS", help="timeout for a reply to begin")
    add("--stall-timeout", type=_parse_positive, metavar="SECONDS", help="timeout between two pieces of a reply")


def _demo_parser() -> Parser:
    parser = Parser(prog="halo demo", description="Watch a scripted model fix a small project with real tools.")
    parser.add_argument("-y", "--yolo", action="store_true", help="run everything without approval")
    return parser


def _models_parser() -> Parser:
    parser = Parser(prog="halo models", description="List the models that -m accepts, and their prices.")
    parser.add_argument("search", nargs="*", help="only models whose name has all these words")
    parser.add_argument("-a", "--all", action="store_true", help="include models without a key")
    parser.add_argument("--refresh", action="store_true", help="download the model catalog first")
    parser.add_argument("--json", action="store_true", help=JSON_LINES)
    return parser


def _context_parser() -> Parser:
    parser = Parser(prog="halo context", description="Show what a task's next request contains, and its price.")
    add = parser.add_argument
    add("task", nargs="?", default="", help="task ID, or its start or end; default: a new task in this folder")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--prompt", action="store_true", help="print the exact system prompt")
    instead.add_argument(
        "--cache", action="store_true", help="show how the task used the provider's cache, and the cause of misses"
    )
    add("--json", action="store_true", help="print one JSON object")
    add("-C", "--cwd", metavar="DIR", default=".", help="folder of the new task")
    _model_options(parser)
    _prompt_words(parser)
    return parser


def _policy_parser() -> Parser:
    parser = Parser(prog="halo policy", description="Show what is allowed without approval. Nothing is run.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="explain|rules|forget|test|simulate|audit")
    explain = actions.add_parser("explain", help="explain the decision about a command or tool")
    add = explain.add_argument
    add("words", nargs="*", metavar="COMMAND", help='the command, in quotes; - reads lines of {"command": …}')
    add("--mcp", metavar="SERVER/TOOL", default="", help="a tool of an MCP server, instead of a command")
    add("--json", action="store_true", help="print one JSON object")
    add("--mode", choices=("plan", "act"), default="act", help="plan: read only; act: may also make changes")
    add("--approval-mode", choices=APPROVAL_MODES, help="approval mode to assume; default: from the settings")
    add("-C", "--cwd", metavar="DIR", default=".", help="the workspace")
    add(
        "--add-dir",
        dest="roots",
        action="append",
        metavar="DIR",
        default=[],
        help="assume a task that also works in this folder",
    )
    rules = actions.add_parser("rules", help="list the rules in force and their sources")
    rules.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the workspace")
    forget = actions.add_parser("forget", help="revoke permanent permissions")
    forget.add_argument("names", nargs="+", metavar="NAME", help="name from `halo policy rules`, such as grant-2")
    forget.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the workspace")
    test = actions.add_parser("test", help="check rule files against the examples in them")
    test.add_argument("files", nargs="*", metavar="FILE", help="rule files; default: those in force")
    test.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the workspace")
    simulate = actions.add_parser("simulate", help="show what a rule file would have decided in past tasks")
    simulate.add_argument("file", metavar="FILE", help="rule file to use instead of your policy.toml")
    simulate.add_argument("tasks", nargs="*", metavar="TASK", help="task IDs; default: all tasks")
    simulate.add_argument("--json", action="store_true", help="print JSON, one object per call")
    audit = actions.add_parser("audit", help="list a task's calls: decision, rule and who answered")
    audit.add_argument("task", metavar="TASK", help="task ID, or its start or end")
    audit.add_argument("--json", action="store_true", help="print JSON, one object per call")
    return parser


def _mcp_parser() -> Parser:
    from halocline.surfaces.cli.args.mcp import build_mcp_parser

    return build_mcp_parser()


def _doctor_parser() -> Parser:
    parser = Parser(prog="halo doctor", description="Check this machine and your setup.")
    parser.add_argument("-C", "--cwd", metavar="DIR", default=".", help="workspace to check")
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired; damaged files are moved aside")
    parser.add_argument("--connect", action="store_true", help="test the connection to the model: server, key, model")
    parser.add_argument("-m", "--model", metavar="PROVIDER/MODEL", help="with --connect: the model to test")
    _server_options(parser)
    _network_options(parser)
    return parser


def _rules_parser() -> Parser:
    parser = Parser(prog="halo rules", description="Manage rule files for the model, such as AGENTS.md.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|why|new|on|off")
    listing = actions.add_parser("list", help="list rule files, when each applies, and why one does not")
    listing.add_argument("--all", action="store_true", help="include places without a file")
    listing.add_argument("--json", action="store_true", help=JSON_LINES)
    why = actions.add_parser("why", help="explain which rules apply to a file")
    why.add_argument("path", nargs="?", default="", help="a file of the project; default: rules that always apply")
    new = actions.add_parser("new", help="create a rule file, empty or from an example")
    new.add_argument("name", nargs="?", default="", help="its name; default: the example's name")
    new.add_argument("--user", action="store_true", help="for all your projects instead of this one")
    new.add_argument("--paths", action="append", metavar="GLOB", help="apply it to these files only; repeatable")
    new.add_argument("--from", dest="example", metavar="EXAMPLE", help="example to copy; --from list shows them")
    for name, text in (("on", "enable a rule file"), ("off", "disable a rule file without deleting it")):
        actions.add_parser(name, help=text).add_argument("file", help="the file as listed, or its path")
    for action in actions.choices.values():
        action.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the project folder")
    return parser


def _hooks_parser() -> Parser:
    parser = Parser(prog="halo hooks", description="Show the hooks of a folder.")
    listing = parser.add_subparsers(dest="action", required=True, metavar="list").add_parser(
        "list", help="list hooks, their sources, and which of them run"
    )
    listing.add_argument("-C", "--cwd", dest="folder", metavar="DIR", default=".", help="the folder")
    listing.add_argument(
        "--hooks-dir", dest="hook_folders", action="append", metavar="DIR", help="another folder of hooks; repeatable"
    )
    listing.add_argument("--json", action="store_true", help=JSON_LINES)
    return parser


def _trust_parser() -> Parser:
    parser = Parser(prog="halo trust", description="Choose which folders may run their own hooks and MCP servers.")
    parser.set_defaults(folder=".", action="list")
    actions = parser.add_subparsers(dest="action", metavar="list|add|remove")
    actions.add_parser("list", help="list your decisions")
    for name, text in (("add", "trust a folder as it is now"), ("remove", "forget the decision about a folder")):
        actions.add_parser(name, help=text).add_argument("folder", nargs="?", default=".", help="the folder")
    return parser


def _login_parser() -> Parser:
    parser = Parser(
        prog="halo login",
        description="Test and store an API key. Type it on a terminal, or pipe it in.",
    )
    add = parser.add_argument
    add("provider", nargs="?", default="", help="the provider; without it, choose from a list")
    add("--list", action="store_true", help="list providers with a key, and its source")
    add("--with-key", action="store_true", help="enter a key instead of signing in through the browser")
    add("--no-browser", action="store_true", help="print the sign-in address, for a browser on another machine")
    add("--no-test", action="store_true", help="store the key without testing it")
    add("--base-url", metavar="URL", help="store the key for this server instead of the provider's own")
    _network_options(parser)
    return parser


def _acp_parser() -> Parser:
    about = "Serve an editor over stdin and stdout. Add it there as an agent with the command: halo acp"
    parser = Parser(prog="halo acp", description=about)
    _model_options(parser)
    parser.add_argument("--mode", choices=("plan", "act"), help="mode of new sessions")
    parser.add_argument("--approval-mode", choices=APPROVAL_MODES, help="approval mode of new sessions")
    return parser


def _logout_parser() -> Parser:
    parser = Parser(prog="halo logout", description="Remove the stored keys of a provider.")
    parser.add_argument("provider", nargs="?", default="", help="the provider")
    parser.add_argument("--all", action="store_true", help="remove the keys of all providers")
    return parser


def _of_tasks(command: str) -> Parser:
    """The parser of a command in `args.tasks`, imported on demand because most runs do not need it."""
    from halocline.surfaces.cli.args import tasks as task_arguments

    parser: Parser = getattr(task_arguments, f"{command.strip('_')}_parser")()
    return parser


PARSERS: dict[str, Callable[[], Parser]] = {
    "": _main_parser,
    "run": _run_parser,
    "demo": _demo_parser,
    "web": partial(_of_tasks, "web"),
    "acp": _acp_parser,
    "attach": partial(_of_tasks, "attach"),
    "tasks": partial(_of_tasks, "tasks"),
    "fork": partial(_of_tasks, "fork"),
    "import": partial(_of_tasks, "import_"),
    "replay": partial(_of_tasks, "replay"),
    "export": partial(_of_tasks, "export"),
    "checkpoints": partial(_of_tasks, "checkpoints"),
    "storage": partial(_of_tasks, "storage"),
    "models": _models_parser,
    "rules": _rules_parser,
    "context": _context_parser,
    "hooks": _hooks_parser,
    "trust": _trust_parser,
    "login": _login_parser,
    "logout": _logout_parser,
    "policy": _policy_parser,
    "todos": partial(_of_tasks, "todos"),
    "memory": partial(_of_tasks, "memory"),
    "mcp": _mcp_parser,
    "doctor": _doctor_parser,
}


def _parse_effort(text: str) -> Effort:
    if text not in tuple(Effort):
        raise argparse.ArgumentTypeError(f"{text!r} is not one of: {EFFORTS}")
    return Effort(text)


def _parse_path(text: str) -> str:
    return str(Path(text).expanduser().absolute())


def _parse_words(text: str) -> str:
    return f"@{_parse_path(text[1:])}" if text.startswith("@") else text


def _parse_tokens(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a token count")
    return int(text)


def positive_int(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def parse_port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return int(text)


def _parse_positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number
