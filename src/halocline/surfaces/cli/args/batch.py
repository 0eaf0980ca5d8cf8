"""Arguments of `halo batch`."""

import argparse

from halocline.surfaces.cli.args.options import add_model_options, add_network_options, add_system_prompt_options
from halocline.surfaces.cli.args.parser import APPROVAL_MODES, Parser, parse_command, parse_positive, positive_int
from halocline.surfaces.cli.args.run import ALLOWED_TOOLS, TRUST_CODE

PLACES = ("folder", "copy", "worktree", "clone", "container", "ssh")
ABOUT = (
    "Run many tasks, each in a place of its own. Started again, a batch continues: what ended does not run again, and "
    "what was interrupted, even by a kill, continues its task."
)
EVAL = "Run tasks with several models, several times each, as halo batch does, and compare the models."
TASKS = "a file of JSON lines, a folder of Harbor tasks, or - for standard input; without it, --name continues a batch"
AGAIN = "run these once more: failed, or the ID of an item; repeatable"
KEEP = "which places to keep when their items have ended (default: all)"
ON = "run the items on the nodes of a Ray cluster: of this machine's, or by the server of Ray's client at HOST:PORT"
NODE_TIMEOUT = "a node that does not answer for so long has lost its items, which begin again on others (default: 60)"
PULL_REQUESTS = "open a pull request for each result that passed, with GitHub's gh or GitLab's glab"
REPORT = "also write the report to FILE.json or FILE.html; repeatable"


def batch_parser() -> Parser:
    parser = Parser(prog="halo batch", description=ABOUT)
    parser.add_argument("--pull-requests", action="store_true", help=PULL_REQUESTS)
    return _add_options(parser)


def eval_parser() -> Parser:
    parser = Parser(prog="halo eval", description=EVAL)
    add = parser.add_argument
    add(
        "--models", default="", metavar="MODELS", help="models to compare, with commas between (default: the one of -m)"
    )
    add("--repeat", type=positive_int, default=1, metavar="N", help="runs of each task by each model (default: 1)")
    add(
        "--against",
        default="",
        metavar="NAME",
        help="compare with an earlier batch of the same tasks; exit with 1 if it is worse",
    )
    return _add_options(parser)


def _add_options(parser: Parser) -> Parser:
    parser.set_defaults(models="", repeat=1, against="")
    parser.set_defaults(pull_requests=parser.get_default("pull_requests") or False)
    add = parser.add_argument
    add("tasks", nargs="?", default="", metavar="TASKS", help=TASKS)
    add("-j", "--at-once", type=positive_int, default=4, metavar="N", help="how many run at once (default: 4)")
    add("--name", default="", metavar="NAME", help="name of the batch; default: that of the file or folder")
    add("--dry-run", action="store_true", help="check everything, list what would run, and exit")
    add("--list", action="store_true", help="list the batches and exit")
    add("--only", action="append", metavar="ID", help="run only this item; repeatable")
    add("--shard", default="", metavar="N/M", help="run only the Nth of M equal parts: one for each machine")
    add("--again", action="append", default=[], metavar="ID|failed", help=AGAIN)
    add(
        "--place", choices=PLACES, help="where items work that do not say it (default: a clone, worktree or the folder)"
    )
    add(
        "--accept",
        type=parse_command,
        metavar="COMMAND",
        help="the command that accepts results, for items without one",
    )
    _add_cluster(parser)
    _add_results(parser)
    add_model_options(parser)
    _add_rules(parser)
    add_system_prompt_options(parser)
    add_network_options(parser)
    return parser


def _add_cluster(parser: Parser) -> None:
    """Add the options about a cluster that runs the items."""
    add = parser.add_argument
    add("--on", type=parse_cluster, metavar="ray[://HOST:PORT]", help=ON)
    add("--nodes", type=positive_int, metavar="N", help="how many nodes Ray is to bring (default: all that there are)")
    add("--node-timeout", type=parse_positive, default=60.0, metavar="SECONDS", help=NODE_TIMEOUT)


def parse_cluster(text: str) -> str:
    """Return the address of a cluster, as Ray reads it."""
    if text == "ray":
        return "auto"
    if not text.startswith("ray://"):
        raise argparse.ArgumentTypeError(f"{text!r} is no cluster: ray, or ray://HOST:PORT")
    return text


def _add_results(parser: Parser) -> None:
    """Add the options about what comes of the items."""
    add = parser.add_argument
    add("--branches", action="store_true", help="also write each result to a branch of its repository")
    add("--keep", choices=("all", "failed", "none"), default="all", help=KEEP)
    add("--predictions", default="", metavar="FILE", help="also write the patches as predictions.jsonl of SWE-bench")
    add("--report", action="append", default=[], metavar="FILE", help=REPORT)
    add("--json", action="store_true", help="print the report as JSON")
    add("--ask", action="store_true", help="let what needs approval wait for you on halo board, instead of refusing it")


def _add_rules(parser: Parser) -> None:
    """Add the options about what the items may do, and how much."""
    add = parser.add_argument
    add("--mode", choices=("plan", "act"), help="plan: read only; act: may also make changes")
    add("--approval-mode", choices=APPROVAL_MODES[:-1], help="which actions run without approval")
    add("-y", "--yolo", action="store_true", help="run everything without approval, as --approval-mode yolo does")
    add("--allowed-tools", action="append", metavar="TOOLS", help=ALLOWED_TOOLS)
    add("--disallowed-tools", action="append", metavar="TOOLS", help="refuse these calls")
    add("--trust-project-code", action="append_const", dest="allowed_tools", const="project_code", help=TRUST_CODE)
    add("--max-steps", type=positive_int, metavar="N", help="most steps of an item")
    add("--max-cost", type=parse_positive, metavar="USD", help="most US dollars of an item")
    add("--max-total-cost", type=parse_positive, metavar="USD", help="most US dollars of the batch")
    add("--token-limit", type=positive_int, metavar="N", help="most tokens of an item")
    add("--time-limit", type=parse_positive, metavar="SECONDS", help="longest duration of an item's turn")
    add("--trust", action="store_true", help="let the folders' own hooks and MCP servers run, this time only")
