"""The request for a commit message, and the message in its reply; pure.

The changes are hostile text in a frame. No line of them begins at the frame's margin: each line of a file has a sign
before it and each line of a list a mark, so that none can end the frame or look like a line of ours.
"""

import re
from collections.abc import Iterator, Sequence

from halocline.context.budget import shorten_line
from halocline.context.templates import read_template
from halocline.ports.model import Request
from halocline.ports.revisions import ChangedFile, CommitDiff
from halocline.protocol.file_names import make_printable
from halocline.protocol.messages import Note, Text, UserMessage, UserPart

ASK = "Write the commit message for these changes."
RULES = "\nOf these rules, follow what they say about commit messages. You have no tools here.\n"
MOST_LISTED = 300
LONGEST_LINE = 500
LONGEST_SUBJECT = 120
_FENCE = re.compile(r"```[\w-]*[ \t]*(?:\n|$)")


def commit_message_request(model: str, diff: CommitDiff, rules: str, most: int, max_tokens: int | None) -> Request:
    """Build the request; `most` is the number of characters of the changes, and `rules` are those of the project."""
    system = read_template("commit_message")
    if "commit" in rules.lower():  # rules that do not mention commits are not worth their tokens
        system += f"\n{rules}{RULES}"
    subjects = "\n".join(f"- {shorten_line(one, LONGEST_SUBJECT)}" for one in diff.subjects)
    examples = (Note(subjects, "recent_subjects"),) if subjects else ()
    content: tuple[UserPart, ...] = (Text(ASK), *examples, Note(format_changes(diff, most), "changes"))
    return Request(model, system, (UserMessage(content),), max_tokens=max_tokens, summary=True)


def format_changes(diff: CommitDiff, most: int) -> str:
    """List the files, then their diffs, cut to `most` characters so that small diffs stay whole."""
    lines = [f"{_count_files(len(diff.files))}, {'staged' if diff.staged else 'not all of them staged'}:"]
    lines += [f"- {_describe_file(file)}" for file in diff.files[:MOST_LISTED]]
    if further := len(diff.files) - MOST_LISTED:
        lines += [f"- and {_count_files(further)} more"] if further > 0 else []
    if diff.hidden:
        lines.append(f"- and {_count_files(diff.hidden)} that you may not see")
    listed = "\n".join(lines)
    return "\n\n".join([listed, *_cut_sections(diff.sections, max(0, most - len(listed)))])


def _count_files(number: int) -> str:
    return f"{number:,} file{'s' * (number != 1)}"


def _describe_file(file: ChangedFile) -> str:
    name = make_printable(file.path)
    if file.old:
        name = f"{make_printable(file.old)} → {name}"
    counts = "" if file.added is None else f" +{file.added} −{file.removed}"
    return f"{file.letter} {name}{counts}{f' ({file.left_out}: not shown)' if file.left_out else ''}"


def _cut_sections(sections: Sequence[str], most: int) -> Iterator[str]:
    """Yield the sections with lines left out of the longest ones, which say so."""
    whole = ["\n".join(shorten_line(line, LONGEST_LINE) for line in _lines_of(section)) for section in sections]
    share = _find_share([len(section) for section in whole], most)
    for section in whole:
        if len(section) <= share:
            yield section
            continue
        kept = section[:share].rpartition("\n")[0]
        missing = section.count("\n") - kept.count("\n")
        yield f"{kept}\n[{missing:,} more lines of this file are left out]".lstrip("\n")


def _lines_of(section: str) -> list[str]:
    return section.replace("\r", "").split("\n")


def _find_share(sizes: Sequence[int], most: int) -> int:
    """Return the largest size up to which no section is cut, so that all of them fit."""
    left = most
    for number, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - number)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def extract_message(reply: str, *, whole: bool) -> str:
    """Return the message in a reply, without a fence around it. Of a part of a reply, only what stays as it is."""
    text = reply.replace("\r", "").lstrip()
    if not whole and "```".startswith(text[:3]) and "\n" not in text:
        return ""
    fence = _FENCE.match(text)
    text = text[fence.end() :].lstrip("\n") if fence else text
    if not whole:
        return text.rstrip("` \t\n")
    text = text.rstrip()
    return text.removesuffix("```").rstrip() if fence else text
