"""Read mentioned files, images and folders, as `read_file` does."""

import hashlib
import re
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from halocline.context.budget import FILE, LISTING, MENTIONED_ONCE, Budget, fit_lines
from halocline.context.images import picture_facts
from halocline.context.token_estimate import BYTES
from halocline.context.user_files.mentions import Mention
from halocline.edits.text import BinaryContent, lines_of, read_text
from halocline.files.meant_paths import find_meant
from halocline.ports.host import FileInfo
from halocline.ports.tool import ToolContext
from halocline.protocol import messages as msg
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.mentions import Mentioned
from halocline.protocol.messages import PICTURE, Image, Note, Text, UserPart
from halocline.runtime.mentions.access import DATA, Ground, Hides, make_notes
from halocline.tools import read_file
from halocline.tools.left_out import count_files, say_absent
from halocline.tools.read_file import LARGEST_FILE

LONGEST_SIDE = 7_500
"""Largest side of an image in pixels."""
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
TEXTS = (
    "bat c cc cfg clj cmake conf cpp cs css csv cxx dart diff docx env ex exs fish go gradle h hpp hs htm html ini "
    "ipynb java jl js json jsonl jsx kt less lock log lua m md mdx mjs ml nix pdf php pl proto ps1 py pyi r rb rs "
    "rst sass scala scss sh sql svelte svg swift tex tf toml ts tsx txt vue xlsx xml yaml yml zig zsh"
)
KNOWN = frozenset([*(f".{ending}" for ending in TEXTS.split()), *PICTURES])
"""File endings that make a name a path, not prose, even if no such file exists."""
_WINDOW = re.compile(r"\[lines (\d+)-(\d+) of (\d+); read on")
LARGEST_SCAN = 50_000_000
"""Bytes of a file whose first lines are read for a guess."""
LARGEST_GUESS = 500_000
"""Files up to this many bytes are read to count their tokens; for larger ones the size is used."""
MOST_FILES = 50
MOST_SEEN = 20_000


ANYWHERE = {"/": ""}
"""Scope for checking that a path exists; nothing is read with it."""


class Located(NamedTuple):
    """A mention's place, its file info, a context that can read only it, and `ranged` if lines of it were meant."""

    place: Path
    info: FileInfo
    ctx: ToolContext
    ranged: bool = False


class Unkept:
    """Blobs that get a name but are not stored. Implements `ports.blobs.Blobs`."""

    def put(self, data: bytes) -> str:
        return f"sha256:{hashlib.sha256(data).hexdigest()}"

    def get(self, ref: str) -> bytes:
        raise KeyError(ref)


async def read_path(mention: Mention, ground: Ground) -> tuple[UserPart, ...]:
    """Read the mentioned file or folder; return nothing if the mention is not a path. Raises ToolFailure."""
    located = await _locate(mention, ground)
    if located is None:
        if not await _is_meant(mention, ground.context(judged=ANYWHERE)):
            return ()
        raise ToolFailure(await _not_found(mention, ground.context()))
    place, info, ctx, ranged = located
    name = _shown_name(place, ctx)
    if info.is_dir:
        return await _read_folder(place, name, ground, ctx)
    if ranged:
        return await _read_file(place, name, info, ctx, (mention.first, mention.last))
    return await _read_file(place, name, info, ctx, (None, None))


async def guess_size(mention: Mention, ground: Ground) -> Mentioned | None:
    """Estimate a mention's size without reading the file, if reading it would take long; else return None."""
    try:
        located = await _locate(mention, ground)
    except ToolFailure as failure:
        return Mentioned(mention.text, failure.text, problem=True)
    if located is None or located.info.is_dir:
        return None
    place, info, ctx, _ = located
    if place.suffix.lower() in PICTURES:
        return None if ctx.task.takes_images() else Mentioned(mention.text, "the model cannot see images", problem=True)
    if info.size <= LARGEST_GUESS and place.suffix.lower() not in (".pdf", ".docx", ".xlsx"):
        return None
    most = await _measure_beginning(place, info, ctx)
    return Mentioned(mention.text, f"{_shown_name(place, ctx)}, {info.size:,} bytes", round(most / BYTES))


async def _measure_beginning(place: Path, info: FileInfo, ctx: ToolContext) -> int:
    """Return the bytes of a large file that are sent: its first lines, or the most that fits if they are not read."""
    most = min(info.size, FILE.characters)
    if info.size > LARGEST_SCAN:
        return most
    try:
        part = await ctx.host.files.read_lines(place, 1, FILE.lines or 1, LARGEST_FILE)
    except OSError:
        return most
    return min(most, sum(min(len(line), FILE.line) + 1 for line in part.data.split(b"\n")[: FILE.lines]))


async def _locate(mention: Mention, ground: Ground) -> Located | None:
    """Find a mention's file, in the workspace first. A name that ends like a line range wins over the range.

    `name:path` is a path in the task's folder of that name.
    """
    ctx = ground.context(judged=ANYWHERE)
    tries = [(mention.whole, False)] if mention.whole else []
    for target, ranged in (*tries, (mention.target, mention.first is not None)):
        inside = target.lstrip("/") or "."
        named = [f"{root}/{rest}" for root in (ctx.workspace, *ctx.task.roots) if (rest := _below_root(root, target))]
        others = [f"{root}/{inside}" for root in ctx.task.roots]
        for candidate in dict.fromkeys((inside, target, *named, *others)):
            if found := await _find_candidate(candidate, ground, ctx):
                return found._replace(ranged=ranged)
    return None


def _below_root(root: Path, target: str) -> str:
    """Return the path after a folder's name and a colon; empty if the target has another form."""
    name, colon, rest = target.partition(":")
    return rest.lstrip("/") if colon and name == root.name else ""


async def _find_candidate(candidate: str, ground: Ground, ctx: ToolContext) -> Located | None:
    """Return the file or folder of that name if a mention may read it; None for a hidden one."""
    try:
        if await ctx.host.files.info(ctx.path(candidate)) is None:
            return None
        place, identity = ground.place(candidate)
        reading = ground.context(judged={str(place): identity})
        info = await reading.host.files.info(place)
    except (Hides, OSError, ValueError, RuntimeError):
        return None
    return Located(place, info, reading) if info and not (candidate.endswith("/") and not info.is_dir) else None


async def _is_meant(mention: Mention, ctx: ToolContext) -> bool:
    """True if a mention that matches no file was meant as a path: by its form, ending, or first folder."""
    name = PurePosixPath(mention.target)
    if mention.meant or mention.first or mention.target.endswith("/") or name.suffix.lower() in KNOWN:
        return True
    try:
        top = await ctx.host.files.info(ctx.path(name.parts[0])) if len(name.parts) > 1 else None
    except (OSError, ValueError, RuntimeError):
        return False
    return top is not None and top.is_dir


async def _not_found(mention: Mention, ctx: ToolContext) -> str:
    near = await find_meant(mention.target, ctx.workspace, ctx.host.files, ctx.host.search)
    return f"not found; nearest: {', '.join(near)}" if near else "not found"


async def _read_file(
    place: Path, name: str, info: FileInfo, ctx: ToolContext, lines: tuple[int | None, int | None]
) -> tuple[UserPart, ...]:

    await _require_fitting_picture(place, info, ctx)
    output = await read_file.run(read_file.Input(name, *lines), ctx)
    text = "\n".join(part.text for part in output.content if isinstance(part, Text))
    pictures = tuple(part for part in output.content if isinstance(part, Image))
    if pictures:
        return (Note(text.strip("[]"), PICTURE), *pictures)
    part = _describe_part(*lines) or _describe_window(text, info.size)
    return make_notes(msg.FILE, f"{name}: {part}{info.size:,} bytes ({DATA})", text)


def _describe_window(text: str, size: int) -> str:
    """Say which lines of a file were read, if not all; the last line of what the tool returns names them."""
    window = _WINDOW.match(text.rsplit("\n", 1)[-1])
    if window:
        return f"lines {window[1]}-{window[2]} of {int(window[3]):,}, "
    return "a part of " if len(text) < size // 4 else ""


def _describe_part(first: int | None, last: int | None) -> str:
    if not first:
        return ""
    return f"line {first} of " if first == last else f"lines {first}-{last} of "


async def _require_fitting_picture(place: Path, info: FileInfo, ctx: ToolContext) -> None:
    if place.suffix.lower() not in PICTURES or not info.is_file:
        return

    facts = picture_facts(await ctx.host.files.read(place, LARGEST_FILE))
    if facts and max(facts.width, facts.height) > LONGEST_SIDE:
        size = f"{facts.width:,}×{facts.height:,} pixels"
        raise ToolFailure(f"not included: {size}, but at most {LONGEST_SIDE:,} per side are possible; make it smaller")
    if facts and not ctx.task.takes_images():
        size = f"{facts.media_type}, {facts.width}×{facts.height} pixels"
        raise ToolFailure(f"[image {place.name}: {size}; not shown, because the model cannot see images]")


async def _read_folder(place: Path, name: str, ground: Ground, ctx: ToolContext) -> tuple[UserPart, ...]:
    """List the files below a folder, with the texts of those directly in it, as far as they fit."""
    names, cut = await ctx.host.search.files(place, MOST_SEEN)
    tree = fit_lines(names, LISTING)
    there = await ctx.host.files.present(place, names[: len(tree.lines)])
    more = f"\n[{len(tree.lines)} of {'over ' * cut}{len(names):,} files]" if tree.cut or cut else ""
    direct = [file for file in names if "/" not in file]
    texts, left_out = await _read_texts(place, direct, ground, ctx)
    label = f"{name.rstrip('/')}/: folder, {count_files(len(names))}, {len(direct)} of them directly in it ({DATA})"
    skipped = [f"[cut or left out: {', '.join(left_out)}; read them one by one]"] if left_out else []
    nothing = "" if names else say_absent("no files in it", await ctx.host.search.count_left_out(place))
    listing = nothing or "\n".join(there) + more
    return make_notes(msg.FOLDER, label, "\n\n".join([listing, *texts, *skipped]))


async def _read_texts(place: Path, names: list[str], ground: Ground, ctx: ToolContext) -> tuple[list[str], list[str]]:
    """Return the files' texts, labelled, and the names of those that did not fit or are not text."""
    texts: list[str] = []
    left_out: list[str] = []
    room = MENTIONED_ONCE
    for name in names[:MOST_FILES]:
        if not ground.admits(place / name, within=place):
            continue
        shown = await _read_lines(place / name, room, ctx)
        if shown is None:
            left_out.append(name)
            continue
        text, whole = shown
        room -= len(text)
        texts.append(f"{_shown_name(place / name, ctx)}:\n{text}")
        left_out += [] if whole else [name]
    return texts, [*left_out, *names[MOST_FILES:]][:MOST_FILES]


async def _read_lines(place: Path, room: int, ctx: ToolContext) -> tuple[str, bool] | None:
    """Return as many of a file's lines as fit, and True if these are all; None if it is not text or nothing fits."""
    try:
        info = await ctx.host.files.info(place)
        if info is None or not info.is_file or info.size > FILE.characters or room < 200:
            return None
        lines = lines_of((await read_text(ctx.host.files, place, FILE.characters)).view)
    except (OSError, BinaryContent):
        return None
    fitted = fit_lines(lines, Budget(FILE.lines, room, 500), numbered_from=1)
    return "\n".join(fitted.lines) or "[the file is empty]", not fitted.cut


def _shown_name(place: Path, ctx: ToolContext) -> str:
    """Return the path to show. `place` has no links in it; the workspace may have."""
    root = ctx.workspace.resolve()
    return (place.relative_to(root).as_posix() or ".") if place.is_relative_to(root) else place.as_posix()
