"""Arguments of `halo plugins`."""

from halocline.surfaces.cli.args.parser import JSON_LINES, Parser


def plugins_parser() -> Parser:
    parser = Parser(alone="list", prog="halo plugins", description="Manage plug-ins.")
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="list|show|install|update|remove|enable|disable|trust"
    )
    listing = actions.add_parser("list", help="list plug-ins, where they are from, and why one is left out")
    listing.add_argument("--json", action="store_true", help=JSON_LINES)
    install = actions.add_parser("install", help="install a plug-in; nothing of it runs before you trust it")
    sources = "a folder, a git URL, a wheel, pypi:NAME, or a name in the registry"
    install.add_argument("name", metavar="SOURCE", help=sources)
    texts = {
        "show": "show what a plug-in adds, and what it may do",
        "update": "install a plug-in again from where it came",
        "remove": "remove one of your plug-ins",
        "trust": "trust a plug-in as it is now",
    }
    for name, text in texts.items():
        actions.add_parser(name, help=text).add_argument("name", metavar="NAME", help="the plug-in")
    for name in ("enable", "disable"):
        switch = actions.add_parser(
            name, help=f"turn a plug-in, or a part of it, {'on' if name == 'enable' else 'off'}"
        )
        switch.add_argument("name", metavar="NAME[/KIND/ITEM]", help="the plug-in, or a part such as tidy/skill/review")
    for name in ("install", "update", "trust"):
        actions.choices[name].add_argument("-y", "--yes", action="store_true", help="trust it without a question")
    for action in actions.choices.values():
        action.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the project folder")
    return parser
