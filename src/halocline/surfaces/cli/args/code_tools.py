"""Arguments of the commands behind an editor's buttons: the code actions, and commit messages."""

from halocline.surfaces.cli.args.options import add_model_options, add_network_options
from halocline.surfaces.cli.args.parser import Parser
from halocline.surfaces.cli.args.run import PromptParser, add_prompt_options


def explain_parser() -> Parser:
    return _build_action_parser("explain", "Explain a file or some of its lines, in plan mode.")


def fix_parser() -> Parser:
    return _build_action_parser("fix", "Fix the problems of a file or of some of its lines.")


def improve_parser() -> Parser:
    return _build_action_parser("improve", "Improve a file or some of its lines without changing what it does.")


def _build_action_parser(name: str, description: str) -> Parser:
    usage = f"halo {name} [options] FILE[:LINE[-LINE]]"
    parser = PromptParser(prog=f"halo {name}", usage=usage, description=description)
    parser.add_argument("file", nargs="*", metavar="FILE[:LINE[-LINE]]", help="the file, relative to the folder")
    problem = "a problem to name, such as a compiler's message; repeatable"
    parser.add_argument("--problem", dest="problems", action="append", metavar="TEXT", default=[], help=problem)
    return add_prompt_options(parser)


def commit_message_parser() -> Parser:
    parser = Parser(
        prog="halo commit-message",
        description="Print a commit message for what is staged; if nothing is, for all uncommitted changes.",
    )
    add = parser.add_argument
    add("-a", "--all", action="store_true", help="for all uncommitted changes, even if some are staged")
    add("-C", "--cwd", metavar="DIR", default=".", help="a folder of the repository")
    add_model_options(parser)
    add_network_options(parser)
    return parser
