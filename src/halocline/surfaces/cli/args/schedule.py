"""Arguments of `halo schedule`. What follows `--` is the command that a schedule starts."""

import argparse

from halocline.surfaces.cli.args.parser import JSON_LINES, Parser


class ScheduleParser(Parser):
    """Keeps the words behind `--` as they are."""

    def read(self, words: list[str]) -> argparse.Namespace:
        at = words.index("--") if "--" in words else len(words)
        found = super().read(words[:at])
        found.words = words[at + 1 :]
        return found


def schedule_parser() -> Parser:
    about = "Run prompts and batches at set times. systemd or cron starts each run; nothing of Halocline waits for it."
    parser = ScheduleParser(alone="list", prog="halo schedule", description=about)
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="list|add|show|run|pause|resume|remove", parser_class=Parser
    )
    listing = actions.add_parser("list", help="list all schedules, each with its next run")
    listing.add_argument("--json", action="store_true", help=JSON_LINES)
    add = actions.add_parser("add", help='start a schedule: halo schedule add NAME --at "daily 09:00" -- run "prompt"')
    add.add_argument("name", metavar="NAME", help="its name: small letters, digits, - and _")
    add.add_argument(
        "--at",
        required=True,
        metavar="TIME",
        help="daily 09:00, weekdays 18:30, hourly; a calendar event of systemd; or the five fields of cron",
    )
    add.add_argument(
        "--zone", default="", metavar="ZONE", help="time zone, such as Europe/Berlin; default: the machine's"
    )
    add.add_argument(
        "--missed",
        choices=("run", "skip"),
        default="skip",
        help="what to do about runs while the machine was off: run (one, as soon as it is on) or skip, the default",
    )
    add.add_argument("-C", "--cwd", metavar="DIR", default=".", help="the folder to run in; default: this folder")
    for name, text in (
        ("show", "show a schedule, its times and its last run"),
        ("run", "run a schedule now, to its end"),
        ("pause", "start no more runs until it is resumed"),
        ("resume", "start runs again"),
        ("remove", "delete a schedule; its tasks stay"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("name", metavar="NAME", help="a schedule")
        if name == "show":
            action.add_argument("--json", action="store_true", help="print one JSON object")
    return parser
