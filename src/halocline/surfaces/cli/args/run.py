"""Arguments of `halo [prompt]`, `halo run` and `halo demo`."""

import argparse

from halocline._version import __version__
from halocline.surfaces.cli import args
from halocline.surfaces.cli.args.options import add_model_options, add_network_options, add_system_prompt_options
from halocline.surfaces.cli.args.parser import (
    APPROVAL_MODES,
    PLAIN,
    SCREEN_READER,
    Parser,
    parse_command,
    parse_positive,
    positive_int,
)
from halocline.surfaces.cli.command_table import COMMANDS

OUTPUT_FORMATS = ("text", "json", "stream-json")
INPUT_FORMATS = ("text", "stream-json")
INPUT_TEXT = "text, or stream-json: messages and commands on standard input, one JSON object per line (see the guide)"
TRUST_CODE = "in approval mode auto without a sandbox: run builds and tests, trusting the project's code and the task's"
ALLOWED_TOOLS = "allow these calls, as in Claude Code: 'Bash(git:*),Edit(src/**)'; repeatable"
BACKGROUND = "run it in the background: print its ID and return; what it asks waits for halo attach"
AFTER = "with --bg: start once this task has ended well; repeatable"
BEST_OF = "make N attempts side by side, each in a Git worktree, and merge one"
UNTIL = "go on until this command exits with 0; without a prompt, that is the prompt"
ADD_DIR = "also work in this folder; repeatable"


class PromptParser(Parser):
    """Takes flags between the words of a prompt; what follows `--` is words, whatever it looks like."""

    def read(self, words: list[str]) -> argparse.Namespace:
        end = words.index("--") if "--" in words else len(words)
        given = words[:end]  # argparse would read flags behind `--` as flags
        if any(word[:1] == "-" and word.partition("=")[0] not in self._option_string_actions for word in given):
            given = args.foreign_words.translate_flags(given)
        arguments = self.parse_intermixed_args(given)
        (takes_words,) = (action.dest for action in self._actions if not action.option_strings)
        setattr(arguments, takes_words, [*getattr(arguments, takes_words), *words[end + 1 :]])
        return arguments


def chat_parser() -> Parser:
    lines = "\n".join(f"  {name:<14} {command.text}" for name, command in COMMANDS.items())
    parser = PromptParser(
        prog="halo",
        usage="halo [options] [prompt]\n       halo COMMAND …",
        description="A coding agent. On a terminal, starts an interactive session.",
        epilog=f"commands:\n{lines}\n\nDetails: halo COMMAND --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"halo {__version__}", help="print the version")
    return _add_prompt(parser)


def run_parser() -> Parser:
    usage = "halo run [options] [prompt]"
    return _add_prompt(PromptParser(prog="halo run", usage=usage, description="Run one prompt and exit."))


def _add_prompt(parser: Parser) -> Parser:
    parser.add_argument("prompt", nargs="*", help="what to do; text on standard input is appended")
    return add_prompt_options(parser)


def add_prompt_options(parser: Parser) -> Parser:
    """Add the options of a prompt. `along`, which is no flag, is sent with it."""
    parser.set_defaults(along=())
    add = parser.add_argument
    add("-p", "--print", action="store_true", help="print only the final answer; never ask for approval")
    add("--output-format", choices=OUTPUT_FORMATS, help="text, json (one result object) or stream-json (the event log)")
    add("--input-format", choices=INPUT_FORMATS, help=INPUT_TEXT)
    add("--include-partial-messages", action="store_true", help="with stream-json: also events that are not logged")
    add("--plain", action="store_const", const="lines", default="", help=PLAIN)
    add("--screen-reader", action="store_const", const="words", dest="plain", help=SCREEN_READER)
    add("--output-schema", metavar="FILE", help="JSON Schema of the answer: a file, or the JSON itself")
    add("--image", dest="images", action="append", metavar="FILE", help="attach an image; repeatable")
    add_model_options(parser)
    add("--mode", choices=("plan", "act"), help="plan: read only; act: may also make changes")
    add("--approval-mode", choices=APPROVAL_MODES, help="which actions run without approval")
    add("-y", "--yolo", action="store_true", help="run everything without approval, as --approval-mode yolo does")
    add("--allowed-tools", "--allowedTools", action="append", metavar="TOOLS", help=ALLOWED_TOOLS)
    add("--disallowed-tools", "--disallowedTools", action="append", metavar="TOOLS", help="refuse these calls")
    add("--trust-project-code", action="append_const", dest="allowed_tools", const="project_code", help=TRUST_CODE)
    add("--mcp-config", metavar="FILE", help="also use the MCP servers in this file, or in this JSON text")
    add("--session-id", metavar="ID", help="ID of the new task: a UUID or a name of your choice")
    add("--ephemeral", action="store_true", help="with -p: delete the task when the run ends")
    add("--name", metavar="NAME", help="name the task")
    add("-w", "--worktree", nargs="?", const="", metavar="NAME", help="work in a Git worktree beside the repository")
    _add_run_options(parser)
    add("-c", "--continue", dest="continue_", action="store_true", help="resume the newest task of this folder")
    add("-r", "--resume", nargs="?", const="", metavar="ID", help="resume this task; without an ID, pick one")
    add("-C", "--cwd", metavar="DIR", default=".", help="work in this folder")
    add("--add-dir", dest="roots", action="append", metavar="DIR", default=[], help=ADD_DIR)
    add("--max-steps", type=positive_int, metavar="N", help="most steps in one turn")
    add("--max-cost", type=parse_positive, metavar="USD", help="most US dollars the task may cost")
    add("--token-limit", type=positive_int, metavar="N", help="most tokens the task may read and write")
    add_system_prompt_options(parser)
    add("--trust", action="store_true", help="let the folder's own hooks and MCP servers run, this time only")
    add("--hooks-dir", dest="hook_folders", action="append", metavar="DIR", help="another folder of hooks; repeatable")
    add("--debug", metavar="FILE", help="write all events with their times, and traces of errors, to this file")
    add("--record", metavar="FILE", help="record events and requests to a new file, for halo replay")
    add("--time-limit", type=parse_positive, metavar="SECONDS", help="longest duration of one turn")
    add_network_options(parser)
    return parser


def _add_run_options(parser: Parser) -> None:
    """Add the options that say where and when a run starts, when it is done, and in how many attempts."""
    add = parser.add_argument
    add("--bg", dest="background", action="store_true", help=BACKGROUND)
    add("--after", action="append", metavar="ID", default=[], help=AFTER)
    add("--best-of", type=positive_int, metavar="N", help=BEST_OF)
    add("--models", metavar="MODELS", help="models of the attempts, in turn, with commas between")
    add("--merge", choices=("best", "none"), help="with --best-of: merge the best attempt, or none, without asking")
    add("--until", type=parse_command, metavar="COMMAND", help=UNTIL)


def demo_parser() -> Parser:
    parser = Parser(prog="halo demo", description="Watch a scripted model fix a small project with real tools.")
    parser.add_argument("-y", "--yolo", action="store_true", help="run everything without approval")
    return parser


def acp_parser() -> Parser:
    about = "Serve an editor over stdin and stdout. Add it there as an agent with the command: halo acp"
    parser = Parser(prog="halo acp", description=about)
    add_model_options(parser)
    parser.add_argument("--mode", choices=("plan", "act"), help="mode of new sessions")
    parser.add_argument("--approval-mode", choices=APPROVAL_MODES, help="approval mode of new sessions")
    return parser
