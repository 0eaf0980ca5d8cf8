"""The words of `halo import`, imported when one is given."""

from halocline.surfaces.cli.arguments import Parser


def parser() -> Parser:
    """What `halo import` understands."""
    made = Parser(
        prog="halo import",
        description="Take over conversations with other agents as tasks. Their files are only read.",
    )
    add = made.add_argument
    programs = ("cline", "claude", "codex", "aider", "all", "mcp")
    add(
        "program",
        nargs="?",
        choices=programs,
        metavar="PROGRAM",
        help=f"whose: {', '.join(programs[:-1])}; or mcp: servers",
    )
    add("path", nargs="?", default="", help="a file or folder, or the beginning or end of one's id; else all there are")
    add("--list", action="store_true", help="only say which there are; so does halo import alone")
    add("--dry-run", action="store_true", help="read them and say what would come of it; write nothing")
    add("--since", default="", metavar="DAY", help="only those that changed since then (2026-11-01)")
    add("--workspace", default="", metavar="DIR", help="the folder to go on in; else the one they were led in")
    add("-y", "--yes", action="store_true", help="with mcp: set the servers up without asking")
    add("--json", action="store_true", help="one JSON object a line")
    return made
