"""Decide in code: edits below docs/ are fine, nothing else is."""

import asyncio

import halocline
from halocline import Decision, events


def decide(asked: events.ApprovalRequested) -> Decision | str:
    names = [diff.path for diff in asked.diffs]
    if names and all(name.startswith("docs/") for name in names):
        return "allow_once"
    print(f"refused: {asked.title} ({asked.reason})")
    return Decision(halocline.Choice.REJECT_ONCE, note="Change only files below docs/.")


async def main() -> None:
    done = await halocline.run("Write docs/notes.md and clean up the folder.", on_approval=decide)
    for change in done.changes:
        print(f"{change.path}: +{change.added} -{change.removed}")
    print(done.text)


if __name__ == "__main__":
    asyncio.run(main())
