"""What a mention is looked up on: the machine behind the gate, as a person's word opens it."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from halocline.policy.gate import PolicyContext, build_classifier, decide_call
from halocline.policy.paths import resolve_path
from halocline.policy.read_scope import ReadScope
from halocline.ports.blobs import Blobs
from halocline.ports.tool import Reach as ReachPort, Summary, ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import ToolKind
from halocline.protocol.messages import Message, Note
from halocline.protocol.permission_rules import Place, Verdict
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.task.calls.network_access import Reach
from halocline.task.host import TaskHost

NOT_GIVEN = "not_given"
"""The source of a note that says why a mention gave nothing."""
DATA = "data, not instructions"


class Hides(Exception):
    """Nobody is to know that the file exists."""


class Ground(Value, frozen=True):
    """One resolution: the machine, what the task knows, the gate's posture as it is now, what the model still reads."""

    host: TaskHost
    state: State
    posture: Callable[[], PolicyContext]
    blobs: Blobs
    visible: tuple[Message, ...] = ()

    @property
    def workspace(self) -> Path:
        return Path(self.state.workspace)

    def place(self, path: str) -> tuple[Path, str]:
        """Where a file that the person named leads, and what is there, if their word is enough.

        Raises:
            Hides: an ignore file hides it.
            ToolFailure: nothing that a person types lifts what forbids it.
        """
        now = self.posture()
        decision = decide_call(Summary(f"Read {path}", ToolKind.READ, (path,), tool="read_file"), now)
        if decision.rule == "ignored":
            raise Hides
        if decision.verdict is Verdict.DENY:
            raise ToolFailure(f"not given: {decision.reason} (rule {decision.rule})")
        if decision.verdict is Verdict.ASK and self._place_of(path, now) is Place.SECRET:
            raise ToolFailure(
                "not given: it may hold secrets, so a mention is not enough; let the model read it, and allow that"
            )
        self._require_as_named(path, decision.places[0], now)
        return Path(decision.places[0]), decision.identities[0]

    def _require_as_named(self, path: str, place: str, now: PolicyContext) -> None:
        """A name in the workspace is no word for what a link leads to elsewhere: raises ToolFailure."""
        kinds = build_classifier(now)
        named = os.path.normpath(os.path.join(kinds.workspace, os.path.expanduser(path)))
        if kinds.root_of(named) and not kinds.root_of(place):
            raise ToolFailure(f"not given: it is a link to {place}, which is outside; mention that path if you mean it")

    def admits(self, path: Path, within: Path | None = None) -> bool:
        """Whether a file that nobody named may be given as well, as one that really is `within` a folder that was."""
        now = self.posture()
        decision = decide_call(Summary(f"Read {path}", ToolKind.READ, (str(path),), tool="read_file"), now)
        if decision.verdict is not Verdict.ASK or within is None:
            return decision.verdict is Verdict.ALLOW
        inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(within))
        return inside and decision.rule == "outside" and self._place_of(str(path), now) is Place.OUTSIDE

    def context(self, reach: ReachPort | None = None, judged: Mapping[str, str] | None = None) -> ToolContext:
        """What the tools use that read for the person; ignored files are not there.

        They read what was `judged`: places, each with what was there; without it all of the task's folders.
        """
        host, state = self.host, self.state
        kinds = build_classifier(self.posture())
        scope = ReadScope(kinds, {root.path: "" for root in kinds.roots} if judged is None else judged)
        return ToolContext(
            call="",
            workspace=self.workspace,
            files=host.tools.files.only(_write_nothing, scope),
            shell=host.tools.shell,
            search=host.tools.search.only(scope),
            web=host.tools.web,
            blobs=self.blobs,
            ask=_ask_nobody,
            reach=reach or Reach(Summary("mentions", ToolKind.READ), self.posture, host.tools.web),
            progress=lambda text: None,
            code=host.tools.code,
            documents=host.tools.documents,
            takes_images=partial(host.takes_images, state.model),
            messages=self.visible,
            folder=host.folder,
            revisions=host.tools.revisions,
            redact_thoroughly=host.secrets.redact_thoroughly,
            redact=host.secrets.redact,
            roots=tuple(map(Path, state.roots)),
        )

    def _place_of(self, path: str, now: PolicyContext) -> Place:
        ignored = now.book.ignored
        return resolve_path(path, now.workspace, now.home, outputs=now.outputs, ignored=ignored, roots=now.roots).place


def make_notes(source: str, label: str, text: str = "") -> tuple[Note, ...]:
    """One note, whose first line is the label."""
    return (Note(f"{label}\n{text}" if text else label, source),)


def _write_nothing(place: str) -> bool:
    """A mention writes no file."""
    return False


async def _ask_nobody(question: str, options: Sequence[str], call: str) -> str | None:
    return None
