"""Arguments of the commands that set up Halocline itself: settings, shell completion, its pages."""

from halocline.surfaces.cli.args.parser import JSON_LINES, Parser

SHELLS = ("bash", "zsh", "fish")


def completion_parser() -> Parser:
    about = "Print a script that completes halo in a shell. In ~/.bashrc: source <(halo completion bash)"
    parser = Parser(prog="halo completion", description=about)
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    return parser


def docs_parser() -> Parser:
    parser = Parser(prog="halo docs", description="Find and show a page of the guide or the reference.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="the name of a page, or words in it; none: list all")
    return parser


def config_parser() -> Parser:
    parser = Parser(alone="list", prog="halo config", description="Show and change the settings.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|get|set|unset")
    listing = actions.add_parser("list", help="list all settings and their values")
    listing.add_argument("words", nargs="*", metavar="WORD", help="only settings whose name or description has these")
    listing.add_argument("--json", action="store_true", help=JSON_LINES)
    get = actions.add_parser("get", help="print the value of a setting")
    get.add_argument("name", metavar="NAME", help="a setting, such as model or mcp.enabled")
    for action in (listing, get):
        action.add_argument("--explain", action="store_true", help="also show where each value comes from")
    put = actions.add_parser("set", help="change a setting in settings.toml; comments stay")
    put.add_argument("name", metavar="NAME", help="a setting, such as model or mcp.enabled")
    put.add_argument("value", metavar="VALUE", help="the value; a list as a,b or in TOML")
    unset = actions.add_parser("unset", help="reset a setting to its default")
    unset.add_argument("name", metavar="NAME", help="a setting")
    return parser
