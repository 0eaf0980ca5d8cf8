"""A decision of the gate, and all that it depends on besides the call itself."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from halocline.policy.paths import Classifier, Folders, Resolved, resolve_folders
from halocline.ports.shell_facts import NoFacts, ShellFacts
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, Grant, Mode
from halocline.protocol.permission_rules import CommandPart, Grade, OtherRoot, Place, RuleBook, Verdict
from halocline.protocol.values import Value


class Decision(Value, frozen=True):
    """The verdict on a call, with the `rule` that decided and the `reason` to show.

    `grant` is what *always* would cover, `wider` a broader offer. `places` are the call's resolved paths when it was
    judged, `identities` the files found there. `parts` are the commands in a command line. `canonical` is the form of a
    read-only command. `scripts` are the workspace files that it runs, each with a fingerprint. `grade` is how grave it
    is to allow it. `mixed` runs instead of an allowed command: its parts that read are in their forms; `left_out` says
    what those leave out. `lost` is what it may lose that no checkpoint holds; "." if there are none. `changes` are the
    paths of all directory entries that the call can change, and where they lead; None if it may change any. `folders`
    are the task's own by which paths were judged; None if there were none.
    """

    verdict: Verdict
    rule: str
    reason: str
    grant: Grant | None = None
    places: tuple[str, ...] = ()
    wider: Grant | None = None
    parts: tuple[CommandPart, ...] = ()
    canonical: str | None = None
    scripts: tuple[str, ...] = ()
    identities: tuple[str, ...] = ()
    grade: Grade = Grade.ORDINARY
    mixed: str = ""
    left_out: str = ""
    lost: tuple[str, ...] = ()
    changes: tuple[str, ...] | None = None
    folders: Folders | None = None


class PolicyContext(Value, frozen=True, dict=True):
    """Everything a decision depends on besides the call itself. It is made for one call.

    `outputs` is the folder with saved command output. `exported` are the variables that earlier commands changed in
    the shell, `path` is PATH if it is one of them; `sandbox` is the state of the sandbox. `roots` are the task's
    folders besides the workspace. `subagent`: plan mode was set for a read-only sub-agent, not by the user.
    """

    workspace: Path
    home: Path
    mode: Mode
    approval_mode: ApprovalMode
    grants: frozenset[Grant] = frozenset()
    refusals: frozenset[Grant] = frozenset()
    book: RuleBook = RuleBook()
    outputs: Path | None = None
    facts: ShellFacts = NoFacts()
    exported: tuple[str, ...] = ()
    path: str = ""
    sandbox: SandboxChecked = SandboxChecked()
    roots: tuple[OtherRoot, ...] = ()
    subagent: bool = False

    def classifier(
        self, guard: Callable[[Resolved], Place | None] | None = None, folders: Folders | None = None
    ) -> Classifier:
        """Return the classifier of places for the task, with the `guard` that rules stand for.

        `folders` are the task's own, if they are known.
        """
        return Classifier(folders or self.own_folders, ignored=self.book.ignored, roots=self.roots, guard=guard)

    @cached_property
    def own_folders(self) -> Folders:
        """The task's own folders without links, as they are when first asked for."""
        return resolve_folders(self.workspace, self.home, self.outputs)
