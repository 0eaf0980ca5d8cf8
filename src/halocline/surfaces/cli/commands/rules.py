"""`halo rules`: files with rules for the model. Which there are and why they hold; a new one; on and off."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.services.instructions import InstructionService, Listed, Verdict
from halocline.surfaces.cli.commands.run import workspace_of
from halocline.surfaces.cli.output.sanitize import clean
from halocline.surfaces.cli.stderr import print_message

NONE = "There are no rules here. Make one: halo rules new NAME. Where they may lie: halo rules list --all"
ALL_OFF = "The setting rules is false, so no rules are followed."


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
            print(json_output.encode(file).decode())
        return
    if files or not with_places:
        print(describe_files(files))
    if with_places:
        print("\nRules are looked for in:" if files else "Rules are looked for in:")
        print("\n".join(f"  {clean(place)}" for place in desk.places))
        print("  AGENTS.md and CLAUDE.md in any folder of the project, once something in it is read or edited,")
        print("  and in the folders above, up to the repository's")


def describe_files(files: Sequence[Listed]) -> str:
    """The files, and when each holds."""
    return "\n".join(line for file in files for line in _file_lines(file)) or NONE


def _file_lines(file: Listed) -> Iterator[str]:
    state = f"not followed: {file.inert}" if file.inert else f"{file.holds} · {file.size:,} characters"
    yield clean(file.path)
    yield f"    {file.of}, {clean(' '.join(state.split()))}"
    for remark in file.remarks:
        yield f"    note: {clean(' '.join(remark.split()))}"


def _say_why(verdicts: Sequence[Verdict]) -> None:
    if not verdicts:
        print(NONE)
    for verdict in sorted(verdicts, key=lambda one: not one.holds):
        print(f"{'holds' if verdict.holds else 'does not hold':<13}  {clean(verdict.path)}: {clean(verdict.reason)}")


def _make_rule(desk: InstructionService, arguments: argparse.Namespace) -> None:
    if arguments.example == "list":
        for name, title in desk.examples().items():
            print(f"{name:<24}{title}")
        return
    if not (arguments.name or arguments.example):
        raise UsageError("The new rule needs a name.", "Write: halo rules new NAME, or --from EXAMPLE")
    made = desk.new(arguments.name, own=arguments.user, paths=arguments.paths or (), example=arguments.example or "")
    print(f"Made {clean(_short_path(made.path))}.")
    if made.is_workflow:
        print(f"It is a workflow: type /{made.path.name} at the prompt.")
    elif not arguments.example:
        print("Write in it what the model should do; it holds from your next prompt on.")


def _short_path(path: Path) -> str:
    """A path from here, when it is below here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _switch_file(desk: InstructionService, file: str, *, on: bool) -> None:
    name, changed = desk.switch(file, on=on)
    state = "on" if on else "off"
    print(
        f"{clean(name)} is {state}; a task hears of it with its next prompt."
        if changed
        else f"{clean(name)} was {state} already."
    )
