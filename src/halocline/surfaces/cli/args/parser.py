"""The words `halo` understands. The reference page of the docs is generated from these parsers."""

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
    "run": "do one prompt and exit",
    "demo": "watch a scripted model repair a small project: no key, no network",
    "web": "open the chat view in a browser",
    "attach": "join a task that is open in another terminal",
    "tasks": "list, search, show, name, mark or delete tasks",
    "fork": "go on from a moment of a task, as another task",
    "replay": "run a recorded task again, without a model",
    "import": "take over conversations with Cline and other agents",
    "export": "write a task as Markdown, an HTML page or JSON lines",
    "checkpoints": "list, compare or restore saved states of a workspace",
    "storage": "what is kept on the disk, and freeing what is not needed",
    "models": "which models can be named, and what they cost",
    "rules": "which files of rules are followed, and why; new ones, on, off",
    "context": "what fills a task's context window, and what it costs",
    "hooks": "which hooks are set up, and which of them run",
    "trust": "let a folder run its own hooks and MCP servers, or not",
    "login": "store the key for a provider, after trying it",
    "logout": "forget a stored key",
    "policy": "say what would be decided about a command, and why",
    "todos": "the to-do list of a task, and the file to change it in",
    "memory": "notes that tasks in a folder begin with",
    "mcp": "MCP servers, which bring further tools: list, try, add, find",
    "doctor": "check what Halocline needs on this machine",
}


APPROVALS = "HALOCLINE_APPROVALS"
APPROVALS_TEXT = "The folder of `--approvals`, for runs at which nobody sits."
ADD_DIR = "work in this folder as well; may be repeated"
FROM_ELSEWHERE = {"help": "--help", "version": "--version"}
"""What other programs have as a command, and what `halo` has instead."""


class Parser(argparse.ArgumentParser):
    """Raises UsageError instead of exiting, so that one place says what went wrong. Flags are not abbreviated."""

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
    """A prompt that looks like a command meant for `halo` is not sent to a model. Raises UsageError."""
    if not prompt:
        return
    first, said = prompt[0], f'To say it to the agent: halo run "{" ".join(prompt)}"'
    if first in COMMANDS:
        raise UsageError(f"The command {first} must come first.", f"Write: halo {first} … {said}")
    if meant := FROM_ELSEWHERE.get(first) or _nearest_command(first):
        raise UsageError(f"There is no command {first!r}.", f"Did you mean: halo {meant}? {said}")


def _nearest_command(word: str) -> str:
    """The command that was misspelt as `word`; empty when it is like none."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, COMMANDS, n=1, cutoff=0.8)), "")


def _main_parser() -> Parser:
    lines = "\n".join(f"  {name:<12} {text}" for name, text in COMMANDS.items())
    parser = Parser(
        prog="halo",
        usage="halo [options] [prompt]\n       halo COMMAND …",
        description="A coding agent. Give it a prompt; on a terminal it then waits for the next one.",
        epilog=f"commands:\n{lines}\n\nMore: halo COMMAND --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"halo {__version__}", help="print the version")
    return _prompt_options(parser)


def _run_parser() -> Parser:
    usage = "halo run [options] [prompt]"
    return _prompt_options(Parser(prog="halo run", usage=usage, description="Do one prompt and exit."))


def _prompt_options(parser: Parser) -> Parser:
    add = parser.add_argument
    add("prompt", nargs="*", help="what to do; text on standard input is added to it")
    add("-p", "--print", action="store_true", help="print only the final answer; never ask")
    add("--output-format", choices=OUTPUT_FORMATS, help="text, one json result, or the event log as stream-json")
    add("--output-schema", metavar="FILE", help="the answer has to fit this JSON Schema; the JSON itself will do")
    add("--image", dest="images", action="append", metavar="FILE", help="show the model this picture; may be repeated")
    _model_options(parser)
    add("--mode", choices=("plan", "act"), help="plan only reads and talks; act also changes things")
    add("--approval-mode", choices=APPROVAL_MODES, help="how much is done without asking")
    add("-y", "--yolo", action="store_true", help="ask nothing: the same as --approval-mode yolo")
    add(
        "--approvals", metavar="DIR", help="ask another program, by files in this folder of Halocline's (see the guide)"
    )
    add("-c", "--continue", dest="continue_", action="store_true", help="go on with the newest task of this folder")
    add("-r", "--resume", metavar="ID", help="go on with this task")
    add("-C", "--cwd", metavar="DIR", default=".", help="work in this folder")
    add("--add-dir", dest="roots", action="append", metavar="DIR", default=[], help=ADD_DIR)
    add("--max-steps", type=positive_int, metavar="N", help="steps one turn may take")
    add("--max-cost", type=_parse_positive, metavar="USD", help="US dollars the task may cost")
    _prompt_words(parser)
    add("--trust", action="store_true", help="let the folder's own hooks and MCP servers run this time")
    add("--hooks-dir", dest="hook_folders", action="append", metavar="DIR", help="a folder of hooks; may be repeated")
    add("--record", metavar="FILE", help="write events and requests to a new file, for halo replay")
    add("--time-limit", type=_parse_positive, metavar="SECONDS", help="how long one turn may take")
    _network_options(parser)
    return parser


def _model_options(parser: Parser) -> None:
    parser.add_argument("-m", "--model", metavar="PROVIDER/MODEL", help="the model to use")
    parser.add_argument("--profile", metavar="NAME", help="use this profile of settings.toml")
    _server_options(parser)
    parser.add_argument("--effort", type=_parse_effort, metavar="LEVEL", help=f"how hard to think: {EFFORTS}")
    parser.add_argument(
        "--thinking-budget",
        type=_parse_tokens,
        metavar="TOKENS",
        help="how long to think for one reply; wins over --effort",
    )
    parser.add_argument(
        "--text-tools", action="store_const", const=("*",), help="let the model write tool calls as text"
    )


def _prompt_words(parser: Parser) -> None:
    add = parser.add_argument
    add("--context-window", type=positive_int, metavar="TOKENS", help="the model's window, if it is not known")
    add("--system-prompt-file", type=_parse_path, metavar="FILE", help="this in the place of the system prompt")
    add(
        "--append-system-prompt",
        type=_parse_words,
        metavar="TEXT",
        help="words for its end; @FILE takes them from a file",
    )


def _server_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--base-url", metavar="URL", help="where the model's server is")
    add("--api-key", type=Secret, metavar="KEY", help="the key to use (other users of the machine may see it)")


def _network_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--proxy", metavar="URL", help="the proxy to reach the model through, or none")
    add("--ca-file", metavar="FILE", help="certificates (PEM) to trust as well")
    add(
        "--connect-timeout",
        type=_parse_positive,
        metavar="SECONDS",
        help="how long a connection may take to come about",
    )
    add("--first-byte-timeout", type=_parse_positive, metavar="SECONDS", help="how long a reply may take to begin")
    add("--stall-timeout", type=_parse_positive, metavar="SECONDS", help="how long a reply may be silent once it began")


def _demo_parser() -> Parser:
    parser = Parser(prog="halo demo", description="Watch a scripted model repair a small project with real tools.")
    parser.add_argument("-y", "--yolo", action="store_true", help="ask nothing")
    return parser


def _models_parser() -> Parser:
    parser = Parser(prog="halo models", description="Which models can be named with -m, and what they cost.")
    parser.add_argument("search", nargs="*", help="only names that hold all of these words")
    parser.add_argument("-a", "--all", action="store_true", help="also those for which no key is set")
    parser.add_argument("--refresh", action="store_true", help="fetch the catalogue anew before anything is listed")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def _context_parser() -> Parser:
    parser = Parser(prog="halo context", description="What a task's next request holds, part by part, and its price.")
    add = parser.add_argument
    add("task", nargs="?", default="", help="the task, or the beginning or end of its name; without it, a new one here")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--prompt", action="store_true", help="print the system prompt exactly")
    instead.add_argument("--cache", action="store_true", help="how a task used the provider's cache, and why it missed")
    add("--json", action="store_true", help="say it as one JSON object")
    add("-C", "--cwd", metavar="DIR", default=".", help="the folder of the new task")
    _model_options(parser)
    _prompt_words(parser)
    return parser


def _policy_parser() -> Parser:
    parser = Parser(prog="halo policy", description="What may be done without asking. Nothing is run.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="explain|rules|forget|test|simulate|audit")
    explain = actions.add_parser("explain", help="what would be decided about a command, and why")
    add = explain.add_argument
    add("words", nargs="*", metavar="COMMAND", help='the command, in quotes; - reads one {"command": …} a line')
    add("--mcp", metavar="SERVER/TOOL", default="", help="of a tool of an MCP server, in the place of a command")
    add("--json", action="store_true", help="say it as a JSON object")
    add("--mode", choices=("plan", "act"), default="act", help="plan only reads; act also changes things")
    add("--approval-mode", choices=APPROVAL_MODES, help="how much is done without asking; as in the settings")
    add("-C", "--cwd", metavar="DIR", default=".", help="the workspace")
    add("--add-dir", dest="roots", action="append", metavar="DIR", default=[], help="a task that has this one as well")
    rules = actions.add_parser("rules", help="the rules in force, and where they are from")
    rules.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the workspace")
    forget = actions.add_parser("forget", help="take back what you allowed for good, for a project or everywhere")
    forget.add_argument("names", nargs="+", metavar="NAME", help="as `halo policy rules` has it: grant-2")
    forget.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the workspace")
    test = actions.add_parser("test", help="try the examples that stand in files of rules")
    test.add_argument("files", nargs="*", metavar="FILE", help="without one: those in force")
    test.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the workspace")
    simulate = actions.add_parser("simulate", help="what a file of rules would have decided in past tasks")
    simulate.add_argument("file", metavar="FILE", help="in the place of your own policy.toml")
    simulate.add_argument("tasks", nargs="*", metavar="TASK", help="without one: all")
    simulate.add_argument("--json", action="store_true", help="one JSON object a call")
    audit = actions.add_parser("audit", help="what was decided of each call of a task, by which rule, and who answered")
    audit.add_argument("task", metavar="TASK", help="its id, or the end of it")
    audit.add_argument("--json", action="store_true", help="one JSON object a call")
    return parser


def _mcp_parser() -> Parser:
    from halocline.surfaces.cli.args.mcp import build_mcp_parser

    return build_mcp_parser()


def _doctor_parser() -> Parser:
    parser = Parser(prog="halo doctor", description="Check what Halocline needs on this machine.")
    parser.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the workspace to check")
    parser.add_argument("--fix", action="store_true", help="mend what can be mended; what was damaged is put aside")
    parser.add_argument("--connect", action="store_true", help="try the way to the model: server, key, model")
    parser.add_argument("-m", "--model", metavar="PROVIDER/MODEL", help="with --connect: this one")
    _server_options(parser)
    _network_options(parser)
    return parser


def _rules_parser() -> Parser:
    parser = Parser(prog="halo rules", description="Files with rules for the model, such as AGENTS.md.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|why|new|on|off")
    listing = actions.add_parser("list", help="those that are here, when each holds, and why one does not")
    listing.add_argument("--all", action="store_true", help="also the places where there is none")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    why = actions.add_parser("why", help="which hold for a file, and which do not, with the reason")
    why.add_argument("path", nargs="?", default="", help="a file of the project; without it: what holds in any case")
    new = actions.add_parser("new", help="make one to write in, or one from our examples")
    new.add_argument("name", nargs="?", default="", help="its name; from an example: the example's when none is given")
    new.add_argument("--user", action="store_true", help="for all your projects, not for this one")
    new.add_argument("--paths", action="append", metavar="GLOB", help="it holds for these files; may be repeated")
    new.add_argument("--from", dest="example", metavar="EXAMPLE", help="copy an example; --from list names them")
    for name, text in (("on", "follow a file again"), ("off", "follow a file no longer; it stays where it is")):
        actions.add_parser(name, help=text).add_argument("file", help="the file, as the list shows it, or its path")
    for action in actions.choices.values():
        action.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the folder")
    return parser


def _hooks_parser() -> Parser:
    parser = Parser(prog="halo hooks", description="The hooks that are set up for a folder.")
    listing = parser.add_subparsers(dest="action", required=True, metavar="list").add_parser(
        "list", help="where each is from, and whether it runs"
    )
    listing.add_argument("-C", "--cwd", dest="folder", metavar="DIR", default=".", help="the folder")
    listing.add_argument(
        "--hooks-dir", dest="hook_folders", action="append", metavar="DIR", help="a folder of hooks; may be repeated"
    )
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def _trust_parser() -> Parser:
    parser = Parser(prog="halo trust", description="Which folders may run hooks and MCP servers of their own.")
    parser.set_defaults(folder=".", action="list")
    actions = parser.add_subparsers(dest="action", metavar="list|add|remove")
    actions.add_parser("list", help="what was said of which folder")
    for name, text in (("add", "trust it as it is now"), ("remove", "forget what was said of it")):
        actions.add_parser(name, help=text).add_argument("folder", nargs="?", default=".", help="the folder")
    return parser


def _login_parser() -> Parser:
    parser = Parser(
        prog="halo login",
        description="Store the key for a provider. It is asked for on a terminal, or read from standard input.",
    )
    add = parser.add_argument
    add("provider", nargs="?", default="", help="whose key; without it there is a list to choose from")
    add("--list", action="store_true", help="which providers have a key, and where it is from")
    add("--with-key", action="store_true", help="type or pipe in a key instead of signing in through the browser")
    add("--no-browser", action="store_true", help="sign in through a browser elsewhere: only print the page's address")
    add("--no-test", action="store_true", help="store the key without trying it")
    add("--base-url", metavar="URL", help="the key is for this server instead of the provider's own")
    _network_options(parser)
    return parser


def _logout_parser() -> Parser:
    parser = Parser(prog="halo logout", description="Forget the stored keys of a provider.")
    parser.add_argument("provider", nargs="?", default="", help="whose keys")
    parser.add_argument("--all", action="store_true", help="those of every provider")
    return parser


def _of_tasks(command: str) -> Parser:
    """The parser of a command about tasks, which most runs do not need."""
    from halocline.surfaces.cli.args import tasks as task_arguments

    parser: Parser = getattr(task_arguments, f"{command.strip('_')}_parser")()
    return parser


PARSERS: dict[str, Callable[[], Parser]] = {
    "": _main_parser,
    "run": _run_parser,
    "demo": _demo_parser,
    "web": partial(_of_tasks, "web"),
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
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of tokens")
    return int(text)


def positive_int(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def parse_port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return int(text)


def _parse_age(text: str) -> float:
    """Seconds."""
    units = {"h": 3600, "d": 86400, "w": 604800}
    if text[-1:] not in units or not text[:-1].isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not an age such as 12h, 30d or 8w")
    return float(text[:-1]) * units[text[-1]]


def _parse_positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number
