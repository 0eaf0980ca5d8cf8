"""File changes: read, planned as text, shown as a diff, written only over what was read, all or none."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halocline import edits
from halocline.edits.diff import make_binary_diff, make_diff
from halocline.edits.text import BinaryContent, NotEncodable, TextFile, decode_text, encode_text, to_lf
from halocline.ports.blobs import blob_reference
from halocline.ports.code import SyntaxRule
from halocline.ports.host import FileChangedOutside, FileWrite
from halocline.ports.tool import InputT, Summary, Tool, ToolContext, ToolOutput
from halocline.protocol import secrets
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import FileChanged
from halocline.protocol.kinds import Diff, Location, ToolKind
from halocline.protocol.messages import FILE, FOLDER, PASTED, Note, Text, UserMessage
from halocline.protocol.values import Value
from halocline.tools.places import absolute_path, explaining_errors, require_workspace, shown_path
from halocline.tools.schema import define_tool

if TYPE_CHECKING:
    from halocline.edits.edit import Edit
    from halocline.edits.large_texts import Apply, Parts
    from halocline.edits.plan import Made

LARGEST_WHOLE = 20_000_000
"""Bytes of the largest file that is replaced or deleted whole; larger ones can be edited by parts."""
TOO_LARGE = (
    "{name} is unchanged: it has {size:,} bytes, and this call takes at most {largest:,}. Change it with a command "
    "instead, such as `sed -i` or `perl -pi`."
)
MOST_PROBLEMS = 5


class Original(Value, frozen=True):
    """A file before its edit. `data` is None if it does not exist yet; `file` is then empty, as it is if not text."""

    path: Path
    name: str
    data: bytes | None
    file: TextFile

    @property
    def is_binary(self) -> bool:
        return bool(self.data) and not self.file.text


class Change(Value, frozen=True):
    """A planned edit. `report` is what the model reads once it is written; `file` is None for a deletion.

    `moved_from` is the file that moves here, `parts` what an edit saw of a large file before and after. A change that
    is not `is_tracked` is not in the log. `raw` is a new content that is not text; `file` is then empty.
    """

    original: Original
    file: TextFile | None
    report: str
    moved_from: Original | None = None
    parts: tuple[TextFile, TextFile] | None = None
    is_tracked: bool = True
    raw: bytes | None = None

    @property
    def diff(self) -> Diff:
        if self.raw is not None or self.original.is_binary:
            return make_binary_diff(self.original.name, self.original.data, self.data)
        if self.parts:
            return make_diff(self.original.name, self.parts[0].text, self.parts[1].text)
        was = self.moved_from or self.original
        before = None if was.data is None else was.file.text
        return make_diff(self.original.name, before, None if self.file is None else self.file.text)

    @property
    def data(self) -> bytes | None:
        """New content of the file. Raises NotEncodable."""
        if self.raw is not None:
            return self.raw
        return None if self.file is None else encode_text(self.file)

    @property
    def writes(self) -> tuple[FileWrite, ...]:
        """Writes to make on disk."""
        was, moved = self.original, self.moved_from
        write = FileWrite(was.path, self.data, was.data, like=moved.path if moved else None)
        return (write,) if moved is None else (write, FileWrite(moved.path, None, moved.data))

    def events(self, ctx: ToolContext) -> tuple[FileChanged, ...]:
        """Return the events of the finished write; stores both versions as blobs."""
        names = {one.path: one.name for one in (self.original, self.moved_from) if one}
        return tuple(
            FileChanged(
                path=names[w.path], before=_keep_blob(w.expected, ctx), after=_keep_blob(w.data, ctx), cause=ctx.call.id
            )
            for w in (self.writes if self.is_tracked else ())
        )


def define_edit(
    name: str,
    description: str,
    input: type[InputT],
    summary: Callable[[InputT], Summary],
    plan: Callable[[InputT, ToolContext], Awaitable[Sequence[Change]]],
    **more: Any,
) -> Tool[InputT]:
    """Define a tool that makes the changes of its `plan`, and shows them before; `more` are those of `define_tool`."""

    async def preview(input: InputT, ctx: ToolContext) -> tuple[Diff, ...]:
        return await _show_changes(await plan(input, ctx), ctx)

    async def run(input: InputT, ctx: ToolContext) -> ToolOutput:
        return await write_changes(await plan(input, ctx), ctx)

    return define_tool(name, description, ToolKind.EDIT, input, summary, run, edits=True, preview=preview, **more)


def summarize_edit(verb: str, path: str) -> Summary:
    """Summarize a call that changes one file."""
    return Summary(title=f"{verb} {path}", kind=ToolKind.EDIT, paths=(path,), locations=(Location(path),))


async def read_original(
    text: str, ctx: ToolContext, largest: int = LARGEST_WHOLE, *, any_content: bool = False
) -> Original:
    """Read the file of at most `largest` bytes that the model wants to edit.

    Raises:
        ToolFailure: it is a folder, binary (without `any_content`), too large, or cannot be read.
    """
    path = absolute_path(text, ctx)
    name = shown_path(path, ctx)
    with explaining_errors(path, ctx):
        info = await ctx.host.files.info(path)
        if info is None:
            require_workspace(path, ctx)
            return Original(path, name, None, decode_text(b"", ctx.host.files.declared_encoding(path)))
        if not info.is_file:
            raise ToolFailure(
                f"{name} is {'a folder' if info.is_dir else 'not a regular file'}, so it cannot be edited."
            )
        if info.size > largest:
            raise ToolFailure(TOO_LARGE.format(name=name, size=info.size, largest=largest))
        data = await ctx.host.files.read(path, largest)
    declared = ctx.host.files.declared_encoding(path)
    return Original(
        path, name, data, _decode_any(data, declared) if any_content else _decode_text(name, data, declared)
    )


def make_edits(was: Original, found: "Sequence[Edit]", apply: "Apply") -> "tuple[Made, Parts]":
    """Return the file as `apply` edits it, by parts if it is large, and what was looked at. Raises EditError."""
    if len(was.file.text) > LARGEST_WHOLE:
        made, parts = edits.large_texts.edit_by_parts(was.file, found, apply)
    else:
        made = apply(was.file, found)
        parts = was.file, made.file
    encode_text(made.file)
    return made, parts


def require_encodable(was: Original, file: TextFile) -> None:
    """Check that the new content can be written in the file's encoding. Raises ToolFailure."""
    try:
        encode_text(file)
    except NotEncodable as error:
        if was.data is None:
            text = error.text.replace("The file is encoded", "Files of this name are declared")
            hint = "Write it as an escape, or have another encoding declared for them."
            raise ToolFailure(f"{was.name} is not created. {text} {hint}") from None
        raise ToolFailure(f"{was.name} is unchanged. {error.text} {error.hint}") from None


def restore_secrets(text: str, was: Original, ctx: ToolContext) -> str:
    """Replace redaction marks with the secrets that the file holds.

    Raises:
        ToolFailure: the file has no secret for a mark, and a mark must not be written as if it were a value.
    """
    if "[redacted " not in text:
        return text
    try:
        return ctx.secrets.restore(text, was.file.view)
    except secrets.redaction.UnknownMark as unknown:
        raise ToolFailure(
            f"{was.name} is unchanged: {unknown} stands for a secret hidden from you, and {was.name} does not contain "
            "that secret now. Read the file again. To put a secret into another file, copy it with a command; to "
            "change one, write the new value or a reference to a variable.",
            person=f"{was.name}: not applied, it would lose a secret",
        ) from None


def require_as_known(was: Original, ctx: ToolContext) -> None:
    """Check, before a file is overwritten or deleted, that it is as the model last saw it. Raises ToolFailure."""
    known = (ctx.task.known or {}).get(was.name)
    if known is None or was.data is None or (known.content == blob_reference(was.data) and not known.stale):
        return
    raise ToolFailure(
        f"{was.name} is unchanged: it changed on disk since you last read or wrote it, and this would discard those "
        "changes. Read it again first.",
        person=f"{was.name}: not applied, it changed since the model read it",
        outside=True,
    )


def require_read(was: Original, ctx: ToolContext) -> None:
    """Check, before a file is overwritten, that the model has read what is in it. Raises ToolFailure."""
    known = ctx.task.known
    is_read = known is None or (was.name in known and not known[was.name].unread)
    if not was.data or is_read or _is_in_messages(was, ctx):
        return
    raise ToolFailure(
        f"{was.name} is unchanged: it exists already, and you have not read it, so this would discard what you do not "
        "know. Read it with read_file first; then write it again, or edit only the part that changes.",
        person=f"{was.name}: not applied, the model had not read it",
    )


def _is_in_messages(was: Original, ctx: ToolContext) -> bool:
    """True if a person gave the file: by a mention of it or of its folder, or from an editor."""
    sent = (part for message in ctx.task.messages() if isinstance(message, UserMessage) for part in message.content)
    notes = [part.text for part in sent if isinstance(part, Note) and part.source in (FILE, FOLDER, PASTED)]
    begins = (f"{was.name}: ", f"{was.path.as_uri()}\n")
    return any(text.startswith(begins) or f"\n\n{was.name}:\n" in text for text in notes)


def _decode_text(name: str, data: bytes, declared: str) -> TextFile:
    try:
        return decode_text(data, declared)
    except BinaryContent:
        raise ToolFailure(
            f"{name} is a binary file ({len(data):,} bytes) and is unchanged. Use a program for its format to edit it."
        ) from None


def _decode_any(data: bytes, declared: str) -> TextFile:
    """Decode a file; one that is not text counts as empty."""
    try:
        return decode_text(data, declared)
    except BinaryContent:
        return decode_text(b"", declared)


async def _show_changes(changes: Sequence[Change], ctx: ToolContext) -> tuple[Diff, ...]:
    """Return the diffs for approval. Raises ToolFailure if writing them would be refused."""
    if ctx.task.syntax_errors is SyntaxRule.REFUSE:
        for change in changes:
            await _describe_syntax(change, ctx)
    return tuple(change.diff for change in changes)


async def _describe_syntax(change: Change, ctx: ToolContext) -> str:
    """Return a warning about syntax errors that the change introduces; empty if none were found.

    Raises:
        ToolFailure: the change introduces some, and the settings refuse such edits.
    """
    was = change.moved_from or change.original
    if ctx.task.syntax_errors is SyntaxRule.OFF or change.file is None or change.raw is not None:
        return ""
    before = None if was.data is None else was.file.view
    problems = await ctx.host.code.problems(change.original.name, before, to_lf(change.file.text))
    if not problems:
        return ""
    places = [f"{p.line} | {p.text}{f'  (missing {p.missing})' if p.missing else ''}" for p in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        places.append(f"and {len(problems) - MOST_PROBLEMS} more")
    found = "\n".join(places)
    if ctx.task.syntax_errors is SyntaxRule.REFUSE:
        raise ToolFailure(f"{was.name} is unchanged: this edit would introduce syntax errors. Correct it.\n{found}")
    return f"\nThis edit seems to introduce syntax errors. Check them and fix what is wrong:\n{found}"


def _keep_blob(data: bytes | None, ctx: ToolContext) -> str | None:
    return None if data is None else ctx.host.blobs.put(data)


class ChangedSinceRead(ToolFailure):
    """A file was changed between the look at it and the write, so none was written."""


async def write_changes(changes: Sequence[Change], ctx: ToolContext) -> ToolOutput:
    """Write the changes, all or none, and report what happened.

    Raises:
        ChangedSinceRead: a file changed since it was read; none is changed then.
        ToolFailure: a file cannot be written, or an edit introduces syntax errors and the settings refuse that.
    """
    writes = [write for change in changes for write in change.writes]
    if len(writes) == 1 and writes[0].data == writes[0].expected:
        return ToolOutput.of(f"{changes[0].original.name} already has exactly this content; nothing was written.")
    report = "\n".join([change.report + await _describe_syntax(change, ctx) for change in changes])
    events = tuple(event for change in changes for event in change.events(ctx))
    # Made before the write, which may have to wait for the disk.
    output = ToolOutput((Text(report),), tuple(change.diff for change in changes), events)
    try:
        match writes:
            case [FileWrite(path=path, data=bytes(data), expected=expected)]:
                await ctx.host.files.write(path, data, expected)
            case _:
                await ctx.host.files.write_all(writes)
    except FileChangedOutside as error:
        name = shown_path(Path(str(error)), ctx)
        raise ChangedSinceRead(
            f"{name} was changed by another program just now. No file was changed. Read it again, then edit.",
            outside=True,
        ) from None
    except (OSError, ValueError) as error:
        filename, why = getattr(error, "filename", None), getattr(error, "strerror", None) or error
        only = changes[0].original.name if len(changes) == 1 else "A file"
        name = shown_path(Path(str(filename)), ctx) if filename else only
        raise ToolFailure(f"{name} cannot be written: {why}. No file was changed.") from error
    return output
