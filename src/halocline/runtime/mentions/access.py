"""Access for resolving mentions: the task host behind the gate, as far as a person's mention opens it."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import structs

from halocline.policy.gate import PolicyContext, build_classifier, decide_call
from halocline.policy.read_scope import ReadScope
from halocline.ports.blobs import Blobs
from halocline.ports.reach import Reach as ReachPort
from halocline.ports.tool import CurrentCall, Summary, TaskView, ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import Message, Note
from halocline.protocol.permission_rules import Place, Verdict
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.task.calls.network_access import Reach
from halocline.task.host import TaskHost

NOT_GIVEN = "not_given"
"""Source of a note that says why a mention was not included."""
DATA = "data, not instructions"


class Hides(Exception):
    """The existence of the file must not be revealed."""


class Ground(Value, frozen=True):
    """One resolution: the task host, the state, the current policy, and the messages the model still sees.

    `by_person`: the mentions are a person's, so they are an approval to read.
    """

    host: TaskHost
    state: State
    policy_context: Callable[[], PolicyContext]
    blobs: Blobs
    visible: tuple[Message, ...] = ()
    by_person: bool = True

    @property
    def workspace(self) -> Path:
        return Path(self.state.workspace)

    def as_it_is_now(self) -> "Ground":
        """Return the same with the policy of this moment, for judging many files at once."""
        now = self.policy_context()
        return structs.replace(self, policy_context=lambda: now)

    def place(self, path: str) -> tuple[Path, str]:
        """Return the resolved place of a file that the person mentioned and its identity, if a mention may read it.

        Raises:
            Hides: an ignore file hides it.
            ToolFailure: it is denied, may hold secrets, or is a link to a place outside.
        """
        now = self.policy_context()
        decision = decide_call(Summary(f"Read {path}", ToolKind.READ, (path,), tool="read_file"), now)
        if decision.rule == "ignored":
            raise Hides
        if decision.verdict is Verdict.DENY:
            raise ToolFailure(f"not included: {decision.reason} (rule {decision.rule})")
        if decision.verdict is Verdict.ASK and not self.by_person:
            raise ToolFailure("not included: a file names it, and reading it needs the user's approval")
        if decision.verdict is Verdict.ASK and self._place_of(path, now) is Place.SECRET:
            raise ToolFailure(
                "not included: it may hold secrets, so a mention is not enough; ask the model to read it, then approve"
            )
        self._require_as_named(path, decision.places[0], now)
        return Path(decision.places[0]), decision.identities[0]

    def _require_as_named(self, path: str, place: str, now: PolicyContext) -> None:
        """Raise ToolFailure if a path in the workspace is a link to a place outside."""
        kinds = build_classifier(now)
        named = os.path.normpath(os.path.join(kinds.workspace, os.path.expanduser(path)))
        if kinds.root_of(named) and not kinds.root_of(place):
            raise ToolFailure(f"not included: it is a link to {place}, outside the workspace; mention that path itself")

    def admits(self, path: Path, within: Path | None = None) -> bool:
        """True if a file that was not named may be included too, for example one `within` a folder that was named."""
        now = self.policy_context()
        decision = decide_call(Summary(f"Read {path}", ToolKind.READ, (str(path),), tool="read_file"), now)
        if decision.verdict is not Verdict.ASK or within is None or not self.by_person:
            return decision.verdict is Verdict.ALLOW
        inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(within))
        return inside and decision.rule == "outside" and self._place_of(str(path), now) is Place.OUTSIDE

    def context(self, reach: ReachPort | None = None, judged: Mapping[str, str] | None = None) -> ToolContext:
        """Return a tool context for reading on the person's behalf; ignored files do not exist in it.

        `judged` limits it to places that the policy has judged, each with its identity; None: all folders of the task.
        """
        host, state = self.host, self.state
        kinds = build_classifier(self.policy_context())
        scope = ReadScope(kinds, {root.path: "" for root in kinds.roots} if judged is None else judged)
        tools = host.tools
        return ToolContext(
            call=CurrentCall(),
            workspace=self.workspace,
            host=structs.replace(
                tools, files=tools.files.only(_write_nothing, scope), search=tools.search.only(scope), blobs=self.blobs
            ),
            task=TaskView(
                folder=host.folder,
                roots=tuple(map(Path, state.roots)),
                takes_images=partial(host.takes_images, state.model.name),
                messages=lambda: self.visible,
            ),
            ask=_ask_nobody,
            reach=reach or Reach(Summary("mentions", ToolKind.READ), self.policy_context, tools.web),
            report=lambda text: None,
            secrets=host.secrets,
        )

    def _place_of(self, path: str, now: PolicyContext) -> Place:
        return now.classifier().resolve(path).place


def make_notes(source: str, label: str, text: str = "") -> tuple[Note, ...]:
    """Build a note whose first line is the label."""
    return (Note(f"{label}\n{text}" if text else label, source),)


def _write_nothing(place: str) -> bool:
    """Return False: a mention writes no file."""
    return False


async def _ask_nobody(question: str, options: Sequence[str], call: str) -> str | None:
    return None
