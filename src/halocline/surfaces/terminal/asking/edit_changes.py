"""A proposed edit that a person changes before it is made: only some of its changes, or as rewritten in an editor.

What must stay true: an approval makes exactly what was shown, or nothing.
"""

import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from halocline import client as api
from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError
from halocline.protocol.events import ApprovalRequested
from halocline.protocol.kinds import Choice, Diff
from halocline.surfaces.figures import format_plural
from halocline.surfaces.terminal.asking.decision import Decision
from halocline.surfaces.terminal.asking.menu import ESCAPE, Menu
from halocline.surfaces.terminal.asking.text_editor import read_edited

if TYPE_CHECKING:
    from halocline.client.edits import ProposedHunk, ProposedText

HUNK_KEYS = tuple(key for key in string.digits[1:] + string.ascii_lowercase if key != "y")
LONGEST_NOTE = 40
"""Most lines of a rejected change that the model is told."""
LONGEST_LINE = 60
_CHANGED = UsageError("The file changed since this edit was shown.", "Reject it, so that the agent looks again.")
_INEXACT = UsageError("This edit cannot be made with your changes.", "Allow or reject all of it.")


class Printer(Protocol):
    """Prints an answer of Halocline, and diffs below it."""

    def say(self, text: str, diffs: tuple[Diff, ...] = ()) -> None: ...


class WaitingEdit:
    """An edit that waits for a decision, with its files before and after it."""

    def __init__(self, client: Client, event: ApprovalRequested, texts: "Sequence[ProposedText]") -> None:
        self._client = client
        self._event = event
        self.texts = tuple(texts)
        self.hunks = api.edits.list_hunks(event.diffs)

    @classmethod
    async def load(cls, client: Client, task: str, event: ApprovalRequested) -> "WaitingEdit | None":
        """Read the files; None if this is no edit, or none that can be changed exactly."""
        if not event.diffs or await client.rewrite_edit(task, event.request, {}) is None:
            return None
        return cls(client, event, await client.read_edit(task, event.request))

    def take(self, taken: set[int]) -> dict[str, str | None]:
        """The texts with only some of the hunks, by path."""
        return api.edits.take_hunks(self.texts, self._event.diffs, taken)

    async def approve(self, wanted: Mapping[str, str | None], note: str = "") -> Decision:
        """Approve with these texts by path. Raises UsageError if that cannot be done exactly."""
        task, request = self._event.task, self._event.request
        if await self._client.read_edit(task, request) != self.texts:
            raise _CHANGED
        arguments = await self._client.rewrite_edit(task, request, wanted)
        if arguments is None:
            raise _INEXACT
        return Decision(Choice.ALLOW_ONCE, note, arguments)


class EditChanges:
    """Asks what to change in an edit."""

    def __init__(self, screen: Printer, menu: Menu) -> None:
        self._screen = screen
        self._menu = menu

    async def ask(self, key: str, edit: WaitingEdit) -> Decision | None:
        """Change the edit as the key says; None when the person went back, or it cannot be done."""
        try:
            return await (self._take_some(edit) if key == "h" else self._rewrite(edit))
        except UsageError as error:
            self._screen.say(f"{error.text} {error.hint}")
            return None

    async def take_files(self, event: ApprovalRequested) -> Decision | None:
        """Let the person switch each file on and off; None when the person went back."""
        parts = [f"{diff.path} (+{diff.added} −{diff.removed})" for diff in event.diffs]
        if (taken := await self._choose_parts("file", parts)) is None:
            return None
        if not taken:
            return Decision(Choice.REJECT_ONCE)
        refused = tuple(diff.path for at, diff in enumerate(event.diffs) if at not in taken)
        return Decision(Choice.ALLOW_ONCE, refused=refused)

    async def _take_some(self, edit: WaitingEdit) -> Decision | None:
        """Let the person switch each hunk on and off."""
        if (taken := await self._choose_parts("change", list(map(_describe_hunk, edit.hunks)))) is None:
            return None
        note = _describe_rejected([hunk for at, hunk in enumerate(edit.hunks) if at not in taken])
        return await edit.approve(edit.take(taken), note) if taken else Decision(Choice.REJECT_ONCE, note)

    async def _choose_parts(self, what: str, parts: Sequence[str]) -> set[int] | None:
        """Return the places of the parts that are allowed; None when the person went back."""
        taken, key = set(range(len(parts))), ""
        while True:
            marks = ("[x]" if at in taken else "[ ]" for at in range(len(parts)))
            options = dict(
                zip(HUNK_KEYS, (f"{mark} {part}" for mark, part in zip(marks, parts, strict=True)), strict=False)
            )
            count = f"{len(taken)} of {format_plural(len(parts), what)}"
            options |= {"y": f"allow {count}" if taken else f"reject all {what}s", ESCAPE: "back"}
            key = await self._menu.choose(f"Which {what}s?", options, selected=key)
            if key in (ESCAPE, "y"):
                return taken if key == "y" else None
            taken ^= {HUNK_KEYS.index(key)}

    async def _rewrite(self, edit: WaitingEdit) -> Decision | None:
        """Let the person rewrite the files as they would be, and show what that makes of the edit."""
        wanted = await self._edit_texts([text for text in edit.texts if text.after is not None])
        if not wanted:
            self._screen.say("You changed nothing in the editor.")
            return None
        diffs = tuple(
            api.diffs.make_diff(text.path, text.before, wanted.get(text.path, text.after)) for text in edit.texts
        )
        self._screen.say("With your changes:", diffs)
        options = {"y": "allow it with your changes", "n": "back to the edit as it was proposed"}
        key = await self._menu.choose("Make this edit?", options)
        return await edit.approve(wanted) if key == "y" else None

    async def _edit_texts(self, texts: "Sequence[ProposedText]") -> dict[str, str | None]:
        """Open texts in the person's editor. Returns those that changed, by path."""
        with TemporaryDirectory(prefix="halo-edit-") as folder:
            files = {text.path: Path(folder, str(number), Path(text.path).name) for number, text in enumerate(texts)}
            for text in texts:
                files[text.path].parent.mkdir()
                files[text.path].write_text(text.after or "", encoding="utf-8", newline="")
            await self._menu.edit_files([*files.values()])
            edited = {path: read_edited(file) for path, file in files.items()}
        return {text.path: edited[text.path] for text in texts if edited[text.path] != text.after}


def _describe_hunk(hunk: "ProposedHunk") -> str:
    lines = sorted(hunk.lines, key=lambda line: line[0] != "+")  # the new text says more than the old
    first = next((f"{line[0]} {line[1:].strip()}" for line in lines if line[1:].strip()), "")[:LONGEST_LINE]
    return f"{hunk.path}, line {hunk.line} (+{hunk.added} −{hunk.removed})  {first}".rstrip()


def _describe_rejected(hunks: "Sequence[ProposedHunk]") -> str:
    """Tell the model which changes were not made."""
    return "\n\n".join(f"Rejected in {hunk.path}, line {hunk.line}:\n{_quote_lines(hunk.lines)}" for hunk in hunks)


def _quote_lines(lines: Sequence[str]) -> str:
    more = [f"… and {len(lines) - LONGEST_NOTE} more lines"] if len(lines) > LONGEST_NOTE else []
    return "\n".join([*(f"{line[:1]} {line[1:]}" for line in lines[:LONGEST_NOTE]), *more])
