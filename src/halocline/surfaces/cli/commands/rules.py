"""`halo rules`: list, explain, create, enable or disable rule files for the model."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from halocline.client.instructions import InstructionService, InstructionVerdict
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.folder_lists import NO_RULES, describe_files
from halocline.surfaces.sanitize import clean

UNNAMED = ("", "Halocline", "AGENTS.md")
"""Programs that say nothing about a rule file beyond its name."""
ALL_OFF = "Rules are disabled; halo config get rules --explain says by what."


def command(arguments: argparse.Namespace) -> int:
    desk = InstructionService.open(workspace_of(arguments.cwd))
    if not desk.is_on and arguments.action != "new":
        print_message(ALL_OFF)
    match arguments.action:
        case "list":
            _list_files(desk, as_json=arguments.json, with_places=arguments.all)
        case "why":
            _say_why(desk.why(arguments.path))
        case "new":
            _make_rule(desk, arguments)
        case _:
            _switch_file(desk, arguments.file, on=arguments.action == "on")
    return 0


def _list_files(desk: InstructionService, *, as_json: bool, with_places: bool) -> None:
    files = desk.found()
    if as_json:
        for file in files:
            print_raw(json_output.encode(file).decode())
        return
    if files or not with_places:
        print_raw(describe_files(files))
    if with_places:
        print("\nPlaces for rules:" if files else "Places for rules:")
        print("\n".join(f"  {clean(place)}" for place in desk.places))
        print("Those in a project folder apply once a file in it is read or edited. Files among them also apply")
        print("in parent folders, up to the repository's root.")


def _say_why(verdicts: Sequence[InstructionVerdict]) -> None:
    if not verdicts:
        print(NO_RULES)
    for verdict in sorted(verdicts, key=lambda one: not one.holds):
        whose = f" ({verdict.program})" if verdict.program not in UNNAMED else ""
        applies = "applies" if verdict.holds else "does not apply"
        print(f"{applies:<14}  {clean(verdict.path)}{whose}: {clean(verdict.reason)}")


def _make_rule(desk: InstructionService, arguments: argparse.Namespace) -> None:
    if arguments.example == "list":
        for name, title in desk.examples().items():
            print(f"{name:<24}{title}")
        return
    if not (arguments.name or arguments.example):
        raise UsageError("The new rule needs a name.", "Use: halo rules new NAME, or --from EXAMPLE")
    made = desk.new(arguments.name, own=arguments.user, paths=arguments.paths or (), example=arguments.example or "")
    print(f"Created {clean(_short_path(made.path))}.")
    if made.is_workflow:
        print(f"It is a workflow. To run it, type /{made.path.name} at the prompt.")
    elif not arguments.example:
        print("Write your instructions for the model in it. It applies from your next prompt on.")


def _short_path(path: Path) -> str:
    """The path relative to the current folder when it is inside it."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _switch_file(desk: InstructionService, file: str, *, on: bool) -> None:
    name, changed = desk.switch(file, on=on)
    state = "on" if on else "off"
    print(
        f"{clean(name)} is {state}. Tasks apply the change with their next prompt."
        if changed
        else f"{clean(name)} is already {state}."
    )
