"""A folder for deciding approvals from another program: one file for each request and decision.

What must stay true: the folder is in Halocline's home and private to the person, so no tool of a task reads or writes
it; a decision counts once, for the waiting request, with its token; only small regular files of this person are read.
"""

import hmac
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from halocline.protocol.errors import UsageError
from halocline.protocol.events import ApprovalRequested, QuestionAsked
from halocline.protocol.json_input import Decoder
from halocline.protocol.kinds import Diff, Grant, Scope
from halocline.protocol.permission_rules import CommandPart, Grade
from halocline.protocol.private_files import make_private_folder
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value
from halocline.store.paths import Home

REQUEST, DECISION, ERROR = ".request.json", ".decision.json", ".error.json"
LARGEST = 1_000_000
"""Largest decision in bytes."""
_WHERE = "Name a folder in {folder}; a relative path starts there."
_WHOLE = "Write the file under another name in this folder, then rename it when it is complete."


class FolderRequest(Value, frozen=True, omit_defaults=False):
    """The content of a request file. A decision repeats the `id` and the `token`.

    `kind` is approval or question. An approval has the whole call, the reason and the rule, the `grade` (how grave it
    is to allow it), the `parts` of a command, and the `diffs` of an edit; `choices` are allow, allow_always and deny,
    as far as they apply, and `always` and `wider` say what allowing always would cover.
    """

    id: str
    token: str
    kind: Literal["approval", "question"]
    task: str
    workspace: str
    title: str
    choices: tuple[str, ...] = ()
    tool: str = ""
    arguments: JsonObject = {}
    command: str = ""
    place: str = ""
    reason: str = ""
    rule: str = ""
    grade: Grade = Grade.ORDINARY
    parts: tuple[CommandPart, ...] = ()
    diffs: tuple[Diff, ...] = ()
    always: Grant | None = None
    wider: Grant | None = None
    version: int = 1


class FolderAnswer(Value, frozen=True, forbid_unknown_fields=True):
    """The content of a decision file.

    `always` is the scope of a permanent grant, `wider` chooses the more general grant. `note` is a message to the
    model, `command` an edited command, which is judged again. `answer` is the text that answers a question.
    """

    id: str
    token: str
    decision: Literal["allow", "deny"] | None = None
    always: Scope | None = None
    wider: bool = False
    note: str = ""
    command: str | None = None
    answer: str = ""


_answer = Decoder(FolderAnswer)


def make_approval_request(event: ApprovalRequested, state: State) -> FolderRequest:
    """Build the request for an approval."""
    call = next((one.call for one in state.pending.calls if one.call.id == event.call), None)
    always = ("allow_always",) if event.grant and "allow_always" in event.options else ()
    return FolderRequest(
        id=f"{state.task}.{event.request}",
        token=os.urandom(16).hex(),
        kind="approval",
        task=state.task,
        workspace=state.workspace,
        title=event.title,
        choices=("allow", *always, "deny"),
        tool=event.name,
        arguments=call.arguments if call else {},
        command=event.detail if event.kind.value == "execute" else "",
        place=event.place,
        reason=event.reason,
        rule=event.rule,
        grade=event.grade,
        parts=event.parts,
        diffs=event.diffs,
        always=event.grant if always else None,
        wider=event.wider if always else None,
    )


def make_question_request(event: QuestionAsked, state: State) -> FolderRequest:
    """Build the request for an answer; the `choices` are suggestions, any text is accepted."""
    name, token = f"{state.task}.{event.request}", os.urandom(16).hex()
    return FolderRequest(name, token, "question", state.task, state.workspace, event.question, event.options)


class ApprovalFolder:
    """One folder, held open, so renaming it later has no effect. Methods raise OSError if the folder fails."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd
        self._left: set[tuple[int, int]] = set()
        """Entries that cannot be removed; each is reported once."""

    @classmethod
    def open(cls, home: Home, name: str) -> "ApprovalFolder":
        """Open the folder. Raises UsageError if other users, or a task's tools, could reach it."""
        path, top = home.approvals / Path(name).expanduser(), os.path.realpath(home.approvals)
        where = _WHERE.format(folder=home.approvals)
        if not Path(os.path.realpath(path)).is_relative_to(top):
            raise UsageError(f"{path} cannot be used for approvals: a task's commands could reach it.", where)
        try:
            make_private_folder(path)
            real = Path(os.path.realpath(path))
            fd = os.open(real, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(f"{path} cannot be used for approvals: {error.strerror}.", where) from error
        root = os.path.realpath(home.root)
        between = [place for place in (real, *real.parents) if place.is_relative_to(root)]
        if open_to_others := next((place for place in between if not _is_private(place, above=place != real)), None):
            os.close(fd)
            raise UsageError(
                f"Other users can change {open_to_others}.", f"Make it private: chmod 700 {open_to_others}"
            )
        return cls(real, fd)

    def close(self) -> None:
        os.close(self._fd)

    def require_apart(self, state: State) -> None:
        """Raise UsageError if a task works in a folder that contains this one."""
        for folder in (state.workspace, *state.roots):
            if self.path.is_relative_to(os.path.realpath(folder)):
                raise UsageError(
                    f"{self.path} is inside {folder}, where the task works.", "Set HALOCLINE_HOME to another folder."
                )

    def write_request(self, request: FolderRequest) -> None:
        """Write a request; remove a decision file that was there before it."""
        self._remove(request.id + DECISION)
        self._write(request.id + REQUEST, msgspec.json.format(msgspec.json.encode(request), indent=1))

    def remove_request(self, request: FolderRequest) -> None:
        """Remove a request that no longer waits."""
        self._remove(request.id + REQUEST)

    def read_decisions(self, task: str, waiting: Mapping[str, FolderRequest]) -> dict[str, FolderAnswer]:
        """Read the decisions on a task's requests. Each invalid one is answered with an error file."""
        if not os.fstat(self._fd).st_nlink:
            raise FileNotFoundError(2, "it was removed")
        return {
            name: found for name in self._decisions(task) if (found := self._take_decision(name, waiting.get(name)))
        }

    def _decisions(self, task: str) -> Iterator[str]:
        for file in sorted(os.listdir(self._fd)):
            if file.startswith(f"{task}.") and file.endswith(DECISION):
                yield file.removesuffix(DECISION)

    def _take_decision(self, name: str, request: FolderRequest | None) -> FolderAnswer | None:
        answer: FolderAnswer | None = None
        try:
            found = os.lstat(name + DECISION, dir_fd=self._fd)
            if (found.st_dev, found.st_ino) in self._left:
                return None
            if request is None:
                raise Refused("No such request is waiting: it was already decided, or withdrawn.")
            answer = self._read(name + DECISION)
            if problem := problem_of(request, answer):
                raise Refused(problem)
        except FileNotFoundError:
            return None
        except Refused as refused:
            self._write(name + ERROR, msgspec.json.encode({"id": name, "problem": str(refused)}))
            if not self._remove(name + DECISION):
                self._left.add((found.st_dev, found.st_ino))
            return None
        for file in (DECISION, ERROR, REQUEST):
            self._remove(name + file)
        return answer

    def _read(self, file: str) -> FolderAnswer:
        try:
            fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._fd)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise Refused(f"It is not a readable regular file ({error.strerror}).") from error
        try:
            _require_plain(os.fstat(fd))
            data = b""
            while len(data) <= LARGEST and (more := os.read(fd, LARGEST)):
                data += more
        finally:
            os.close(fd)
        if len(data) > LARGEST:
            raise Refused(f"It is larger than {LARGEST:,} bytes.")
        try:
            return _answer.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refused(f"It is not a valid decision: {error}. {_WHOLE}") from error

    def _write(self, file: str, data: bytes) -> None:
        fresh = f".{os.urandom(6).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with open(os.open(fresh, flags, 0o600, dir_fd=self._fd), "wb") as opened:
                opened.write(data)
                opened.flush()
                os.fsync(opened.fileno())
            os.rename(fresh, file, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except BaseException:
            self._remove(fresh)
            raise

    def _remove(self, file: str) -> bool:
        """Remove a file. Return False if it is still there: a folder is not removed."""
        with suppress(FileNotFoundError):
            try:
                os.unlink(file, dir_fd=self._fd)
            except OSError:
                return False
        return True


class Refused(Exception):
    """An invalid decision; the text says why."""


def problem_of(request: FolderRequest, answer: FolderAnswer) -> str:
    """Return why an answer is invalid for a request; empty if it is valid."""
    if answer.id != request.id or not hmac.compare_digest(answer.token.encode(), request.token.encode()):
        return "The id and token do not match the request."
    if request.kind == "question":
        return "" if answer.answer.strip() and not answer.decision else "A question needs a text in answer."
    if answer.decision is None or answer.answer:
        return "An approval needs a decision: allow or deny."
    if answer.decision == "deny":
        more = answer.always or answer.wider or answer.command is not None
        return "Only a note can go with deny." if more else ""
    if (answer.always or answer.wider) and "allow_always" not in request.choices:
        return "This can only be allowed once."
    if answer.wider and not (answer.always and request.wider):
        return "The request offers no wider grant, or always is missing."
    if answer.command is not None and ("command" not in request.arguments or answer.always):
        return "Only commands can be edited, and an edited command can only be allowed once."
    return "" if answer.command is None or answer.command.strip() else "The edited command is empty."


def _require_plain(found: os.stat_result) -> None:
    """Raise Refused unless it is a regular file that only this person can write."""
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise Refused("It is not a regular file, or has several hard links.")
    if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refused("Another user owns it, or can write to it.")


def _is_private(place: Path, *, above: bool) -> bool:
    found = os.lstat(place)
    mode = stat.S_IWGRP | stat.S_IWOTH if above else stat.S_IRWXG | stat.S_IRWXO
    return found.st_uid == os.geteuid() and not found.st_mode & mode
