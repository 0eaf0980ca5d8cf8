"""The words of the commands about tasks: what was done, its saved states, its to-do list, and notes for later ones."""

import argparse

from halocline.surfaces.cli.args.parser import Parser, parse_port, positive_int

TASK_STATUSES = ("done", "unfinished", "interrupted", "failed", "at-a-limit", "cut-off", "refused")
IMPORTED = ("cline", "claude", "codex", "aider")
"""Programs whose conversations can be taken over."""


def web_parser() -> Parser:
    about = (
        "Open the chat view in a browser. The address that is printed holds the key to it: it lets in whoever has it."
    )
    parser = Parser(prog="halo web", description=about)
    add = parser.add_argument
    add("folders", nargs="*", metavar="DIR", help="where new tasks may begin; without one: this folder")
    add("--port", type=parse_port, metavar="N", help="listen there; 0 takes any that is free")
    add(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="listen on this address of the machine, such as 0.0.0.0; other machines are paired by a code",
    )
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer under this name, too, which a proxy or the network has for this machine; may be repeated",
    )
    add("--no-open", dest="open", action="store_false", help="do not open a browser")
    add("--browsers", action="store_true", help="list the browsers that stay signed in, and end")
    add("--sign-out", metavar="ID", default="", help="sign out the browser that the list shows so, or all, and end")
    return parser


def attach_parser() -> Parser:
    about = "Join a task that another process runs. When that one ends, this one goes on with it."
    parser = Parser(prog="halo attach", description=about)
    parser.add_argument("id", help="the task, or the beginning or end of its name")
    parser.add_argument(
        "--watch", action="store_true", help="only look on: ask nothing, and end when the task is closed"
    )
    return parser


def tasks_parser() -> Parser:
    parser = Parser(prog="halo tasks", description="The tasks of this home.")
    known = "list|show|rename|favourite|tag|delete|undelete"
    actions = parser.add_subparsers(dest="action", required=True, metavar=known)
    _task_list(actions.add_parser("list", help="the newest first; search and choose among them"))
    show = actions.add_parser("show", help="read a task")
    show.add_argument("id", help="the task, or the beginning or end of its name")
    instead = show.add_mutually_exclusive_group()
    instead.add_argument("--follow", action="store_true", help="go on as another process writes it")
    instead.add_argument("--at", type=positive_int, metavar="EVENT", help="as it was after this event")
    instead.add_argument("--points", action="store_true", help="list what one may go back to, with event numbers")
    instead.add_argument("--cost", action="store_true", help="what it took: tokens and dollars by step, turn and task")
    rename = actions.add_parser("rename", help="give a task a name")
    rename.add_argument("id", help="the task")
    rename.add_argument("name", nargs="*", help="its name; none takes it away")
    favourite = actions.add_parser("favourite", help="mark a task as a favourite")
    favourite.add_argument("id", help="the task")
    favourite.add_argument("--off", action="store_true", help="it is none any more")
    tag = actions.add_parser("tag", help="put tags on a task")
    tag.add_argument("id", help="the task")
    tag.add_argument("tags", nargs="+", metavar="TAG", help="a word")
    tag.add_argument("--off", action="store_true", help="take them away")
    delete = actions.add_parser("delete", help="put tasks into the trash; can be undone")
    delete.add_argument("id", nargs="*", help="the tasks")
    delete.add_argument("--older", metavar="TIME", help="those that did nothing since, such as 30d; favourites stay")
    delete.add_argument("-y", "--yes", action="store_true", help="do not ask")
    undelete = actions.add_parser("undelete", help="take a task out of the trash")
    undelete.add_argument("id", nargs="?", help="the task; without it: what is in the trash")
    return parser


def _task_list(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--search", nargs="+", metavar="WORD", default=[], help="those that hold all these words; the best first")
    add("--all", action="store_true", help="of every folder, not only this one")
    add("-C", "--cwd", "--workspace", metavar="DIR", default=".", help="the folder; all: every one")
    add("--model", metavar="NAME", default="", help="whose model's name holds this")
    add("--since", metavar="TIME", help="that did something since: 12h, 30d, 2026-11-01")
    add("--favourite", action="store_true", help="only favourites")
    add("--tag", action="append", metavar="TAG", default=[], help="that have this tag; may be repeated")
    ends = f"how the last turn ended: {', '.join(TASK_STATUSES)}; may be repeated"
    add("--status", choices=TASK_STATUSES, action="append", metavar="END", default=[], help=ends)
    add("--subagents", metavar="ID", default="", help="the sub-agents of this task")
    add("--sort", choices=("time", "cost", "tokens", "size"), help="newest, dearest, longest or largest first")
    add("--limit", type=positive_int, metavar="N", help="no more than so many")
    add("--json", action="store_true", help="one JSON object a line")


def import_parser() -> Parser:
    parser = Parser(
        prog="halo import",
        description="Take over conversations with other agents as tasks. Their files are only read.",
    )
    add = parser.add_argument
    add(
        "program",
        nargs="?",
        default="",
        metavar="PROGRAM",
        help=f"whose: {', '.join(IMPORTED)}, all; or mcp: servers; a file or folder may stand here alone",
    )
    add("path", nargs="?", default="", help="a file or folder, or the beginning or end of one's id; else all there are")
    add("--list", action="store_true", help="only say which there are; so does halo import alone")
    add("--dry-run", action="store_true", help="read them and say what would come of it; write nothing")
    add("--since", default="", metavar="DAY", help="only those that changed since then (2026-11-01)")
    add("--workspace", default="", metavar="DIR", help="the folder to go on in; else the one they were led in")
    add("-y", "--yes", action="store_true", help="with mcp: set the servers up without asking")
    add("--json", action="store_true", help="one JSON object a line")
    return parser


def export_parser() -> Parser:
    parser = Parser(prog="halo export", description="Write a task to standard output or a file.")
    parser.add_argument("id", help="the task, or the beginning or end of its name")
    parser.add_argument(
        "-f", "--format", choices=("markdown", "html", "jsonl"), default="markdown", help="what to write"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write it")
    return parser


def replay_parser() -> Parser:
    parser = Parser(prog="halo replay", description="Run a recorded task again, with no model and no network.")
    add = parser.add_argument
    add("recording", help="a file that --record wrote, or a task")
    add("--tolerant", action="store_true", help="go on after a difference, as far as possible")
    add("--tools-in", metavar="DIR", help="let the tools run, in this folder; else they answer as recorded")
    add("--json", action="store_true", help="say it as one JSON object")
    return parser


def checkpoints_parser() -> Parser:
    parser = Parser(prog="halo checkpoints", description="Saved states of a workspace.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|diff|restore")
    listing = actions.add_parser("list", help="the newest first")
    diff = actions.add_parser("diff", help="what changed since a checkpoint, or between two")
    diff.add_argument("checkpoint", nargs="?", help="its name, as the list shows it, or TASK@EVENT")
    diff.add_argument("other", nargs="?", help="compare with this one instead of the files as they are")
    diff.add_argument("--stat", action="store_true", help="only names and how many lines changed")
    diff.add_argument("--json", action="store_true", help="one JSON object a file")
    since = diff.add_mutually_exclusive_group()
    since.add_argument("--since-completion", action="store_true", help="what the newest turn of a task changed")
    since.add_argument("--since-start", action="store_true", help="what a task changed since it began")
    diff.add_argument("--task", metavar="ID", help="with --since-…: this task, not the newest of the folder")
    restore = actions.add_parser("restore", help="put the files back; can be undone")
    restore.add_argument("checkpoint", help="its name, as the list shows it, or TASK@EVENT")
    restore.add_argument("--what", choices=("files", "chat", "both"), default="files", help="what goes back")
    restore.add_argument("--overwrite", action="store_true", help="also what you or others changed since")
    restore.add_argument("-y", "--yes", action="store_true", help="do not ask")
    for action in (listing, diff, restore):
        action.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the workspace")
    return parser


def fork_parser() -> Parser:
    parser = Parser(prog="halo fork", description="Go on from a moment of a task, as another task.")
    add = parser.add_argument
    add("id", help="the task, or the beginning or end of its name")
    add("--at", type=positive_int, metavar="EVENT", help="from after this event; else from its end")
    add("-m", "--model", metavar="PROVIDER/MODEL", help="with another model")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--files", metavar="DIR", help="put the files as they were into this folder, and work there")
    where.add_argument("--worktree", metavar="DIR", help="the same in a new worktree of the project's git")
    return parser


def todos_parser() -> Parser:
    parser = Parser(prog="halo todos", description="The to-do list of a task, and the file to change it in.")
    parser.add_argument("task", nargs="?", default="", help="its id, or the end of it; the newest here without one")
    parser.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the folder")
    return parser


def memory_parser() -> Parser:
    parser = Parser(prog="halo memory", description="Notes that tasks in a folder begin with.")
    parser.set_defaults(action="show", cwd=".")
    actions = parser.add_subparsers(dest="action", metavar="show|edit|forget")
    show = actions.add_parser("show", help="your own and the project's, numbered")
    edit = actions.add_parser("edit", help="open your own in your editor")
    edit.add_argument("--project", action="store_true", help="the project's, which everybody has")
    forget = actions.add_parser("forget", help="remove one")
    forget.add_argument("number", type=positive_int, metavar="N", help="as show numbers it")
    for action in (show, edit, forget):
        action.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the folder")
    return parser


def storage_parser() -> Parser:
    parser = Parser(prog="halo storage", description="What Halocline keeps on the disk.")
    parser.set_defaults(action="show")
    parser.add_argument("--json", action="store_true", help="one JSON object, with every task and every store")
    actions = parser.add_subparsers(dest="action", metavar="prune")
    prune = actions.add_parser("prune", help="free what no task needs any more; shows first what that is")
    prune.add_argument(
        "--older", type=_parse_age, metavar="AGE", help="also checkpoints of tasks not changed for, say, 30d"
    )
    prune.add_argument("--keep", type=positive_int, metavar="N", help="also all but the newest N checkpoints of a task")
    prune.add_argument("--dry-run", action="store_true", help="only show what would be freed")
    prune.add_argument("-y", "--yes", action="store_true", help="do not ask")
    return parser


def _parse_age(text: str) -> float:
    """Seconds."""
    units = {"h": 3600, "d": 86400, "w": 604800}
    if text[-1:] not in units or not text[:-1].isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not an age such as 12h, 30d or 8w")
    return float(text[:-1]) * units[text[-1]]
