"""The state in which a command would run: the folders it may be in, and where its paths lead from there.

After a `cd` that may fail, a path is judged from every folder it may start in; the strictest answer wins.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from msgspec import field
from msgspec.structs import replace

from halocline.files.real_paths import find_real_path
from halocline.policy.commands import Circumstances, Touch, Use
from halocline.policy.paths import LONGEST_PATH, Classifier, Resolved, is_within
from halocline.policy.shell.syntax.tree import Block, Piece, Word
from halocline.policy.shell.values.links import Links
from halocline.policy.shell.values.name_patterns import add_hidden_patterns, build_pattern
from halocline.policy.shell.values.variables import UNKNOWN, Values, Variables
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Place
from halocline.protocol.values import set_of

MOST_FOLDERS = 8
MOST_IN_DOUBT = 32
"""Most folders that count if the command may start in any other one, too."""
Hidden = tuple[tuple[str, ...], frozenset[str]]
DEVICE = compile_later(r"/dev/(sd|hd|vd|xvd|nvme|disk|rdisk|mmcblk|mem|kmem|port|dm-|md|loop)")
_NOTHING = (Piece(UNKNOWN),)
_ROOTS = set_of("/ /home /Users /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/local /usr/share")
_ROOTS |= {"/var/lib", "/System/Library"}
HISTORY = ("HEAD", "objects", "refs")
"""The entries without which a `.git` is not a repository."""
_OWN_FOLDER = compile_later(r"(?s)/+(proc/([^/]+/)?(task/[^/]+/)?(cwd|root|fd/\d+)|dev/fd/\d+)((?<=cwd)$|/.*)")
"""The folder of a process of the command; to us it would be our own."""
_LONGEST_NAME, MOST_ABSENT = 255, 512
"""Letters of one name; and names in a text above which one that is not there counts only for what it is called."""
Found = Resolved
"""The place that a word leads to."""


class Ground(Circumstances, frozen=True):
    """The circumstances of one command. `starts` are the absolute folders it may start in; a NUL is an unknown one.

    `rebinds`: command names may run other programs; `matches_hidden`: patterns match names with a leading dot;
    `matches_oddly`: they may match more than they seem to; `splits_oddly`: the word separators are not known; `stops`:
    the shell ends where a `cd` fails. `left` are the folders that the last `cd` left, `stack` those that `popd` goes
    back to. `fed` are names that come through a pipe or a redirection, as in `listed_names`. `mentioned` are the names
    in the whole text that lead to protected files. `touches` collects every place that is judged, `left_out` what forms
    leave out, `links` the links that the text makes, with where they lead; the last four keep what was found.
    """

    starts: tuple[str, ...] = (UNKNOWN,)
    variables: Variables = field(default_factory=Variables)
    rebinds: bool = False
    matches_hidden: bool = False
    matches_oddly: bool = False
    splits_oddly: bool = False
    stops: bool = False
    left: tuple[str, ...] = ()
    stack: tuple[tuple[str, ...], ...] = ()
    fed: Values = ()
    mentioned: Values = ()
    functions: Mapping[str, Sequence[Block]] = field(default_factory=dict)
    touches: list[Touch] = field(default_factory=list)
    left_out: dict[str, None] = field(default_factory=dict)
    links: Links = field(default_factory=Links)
    classifiers: list[Classifier] = field(default_factory=list)
    resolved: dict[str, Found] = field(default_factory=dict)
    hidden: dict[tuple[str, bool, bool], Hidden | None] = field(default_factory=dict)
    relevant: dict[tuple[Values, Values, int], Values] = field(default_factory=dict)

    @property
    def folders(self) -> tuple[str, ...]:
        """The known folders that it may start in."""
        return self.starts if UNKNOWN not in self.starts else tuple(one for one in self.starts if one != UNKNOWN)

    def value(self, name: str) -> Values:
        """Return the values that a variable may have here."""
        if name == "HALOCLINE_HOME" and name not in self.variables.known:
            return (str(self.home),)
        if name == "OLDPWD" and name not in self.variables.known:
            return (*self.left, UNKNOWN)
        return self.variables.value(name, self.starts, self.exported)

    def with_variables(self, variables: Variables) -> "Ground":
        return self if variables is self.variables else replace(self, variables=variables)

    def merge(self, *others: "Ground") -> "Ground":
        """Return the ground after one of several branches was taken."""
        found = self
        for other in others:
            starts = (*found.starts, *other.starts)
            found = found.with_folders(starts).with_variables(found.variables.merge(other.variables))
            if (found.left, found.stack) != (other.left, other.stack):
                pairs = zip_longest(reversed(found.stack), reversed(other.stack), fillvalue=())
                stack = tuple(_unite(*pair) for pair in pairs)[::-1]
                found = replace(found, left=_unite(found.left, other.left), stack=stack)
            found = found.with_settings_of(other)
        return found

    def with_settings_of(self, other: "Ground") -> "Ground":
        """Return the ground with the settings that change how the shell reads, if either place may have them."""
        hidden, oddly = self.matches_hidden or other.matches_hidden, self.splits_oddly or other.splits_oddly
        if (hidden, oddly) == (self.matches_hidden, self.splits_oddly):
            return self
        return replace(self, matches_hidden=hidden, splits_oddly=oddly)

    def note(self, found: Iterable[Found], use: Use) -> None:
        """Record places that a command uses."""
        self.touches.extend(Touch(replace(one, identity=""), use) for one in found)

    def note_below(self, folder: Found, use: Use) -> bool:
        """Record the files below a folder if a rule may guard them; return False if they are too many to look at."""
        if use not in self.guarded:
            return True
        names = self.facts.files_below(folder.path)
        below, at, shown = [name for name in names or () if not os.path.isabs(name)], folder.path, folder.shown
        self.note([Found(f"{at}/{one}", f"{shown}/{one}", folder.place, root=folder.root) for one in below], use)
        return names is not None

    def hides_text(self, text: str) -> bool:
        """Return True if a text names a file that may not even be named, as it is hidden or a rule denies it."""
        hides = self.hides.names if self.hides and 0 < len(text) <= LONGEST_PATH else None
        return hides is not None and hides.key != () and any(hides(one.path, None) for one in self.places(text))

    @property
    def hides_names(self) -> bool:
        """True if some files of the task may not even be named."""
        return self.hides is not None and self.hides.names.key != ()

    def hidden_below(self, folder: str, *, deep: bool = True, names: bool = False) -> Hidden | None:
        """Return the hidden paths (or `names`) below a folder and the names of the rest, kept for the text."""
        key, hides = (folder, deep, names), self.hides.names if names and self.hides else self.hides
        if hides is None or not hides.key:
            return (), frozenset()
        if key not in self.hidden:
            self.hidden[key] = self.facts.hidden_below(folder, hides, deep=deep)
        return self.hidden[key]

    def moved_to(self, folders: Iterable[str], stack: tuple[tuple[str, ...], ...] | None = None) -> "Ground":
        """Return the ground after the shell went to a folder; `cd -` goes back from there."""
        return replace(self.with_folders(folders), left=self.starts, stack=self.stack if stack is None else stack)

    def with_folders(self, folders: Iterable[str]) -> "Ground":
        """Return the ground in these folders; if they are too many, in those that exist or in an unknown one."""
        kept = tuple(dict.fromkeys(folders))
        if len(kept) > MOST_FOLDERS:
            kept = (*[one for one in kept if os.path.isdir(one)][:MOST_IN_DOUBT], UNKNOWN)
        return replace(self, starts=kept)

    def find(self, text: str, *, quoted: bool = False) -> list[Found]:
        """Return where a path leads from each folder. Raises ToolFailure if it is invalid."""
        if text[:1] == "/" and (own := _OWN_FOLDER.match(os.path.normpath(text))):
            text = f"{'' if own[4] == 'root' else '.'}{own[5]}"
        literal = f"./{text}" if quoted and text.startswith("~") else text
        if "\0" in literal:
            raise ToolFailure("A path cannot contain a NUL character.")
        absolute = os.path.isabs(os.path.expanduser(literal))
        folders = self.folders or (("/",) if absolute else ())
        paths = [os.path.join(one, os.path.expanduser(literal)) for one in folders]
        return [self._resolve(one) for path in paths for one in (path, *self.links.follow(path))]

    def _resolve(self, path: str) -> Found:
        """Resolve a path; a command names many a path several times, and each is looked at once."""
        if path not in self.resolved:
            self.resolved[path] = self._classifier().resolve(path)
        return self.resolved[path]

    def may_begin(self, text: str, at: int = 0) -> bool:
        """Return True if the first name of a path that begins there exists, or may once the text runs."""
        name, slash, _ = text[at : at + _LONGEST_NAME + 1].partition("/")
        if self.links.pairs or name[:1] in ("", "~"):
            return name + slash != ""
        return any(os.path.lexists(os.path.join(one, name)) for one in self.folders)

    def places(self, text: str, *, quoted: bool = False) -> list[Found]:
        """Return where a path leads from each folder; nothing if it is invalid."""
        try:
            return self.find(text, quoted=quoted)
        except ToolFailure:
            return []

    @property
    def real_roots(self) -> tuple[str, ...]:
        """The folders of the task without links, the workspace first."""
        return (self._classifier().workspace, *(root.path for root in self.roots))

    def _classifier(self) -> Classifier:
        """Return the classifier of places; it resolves the task's folders once for a whole text."""
        if not self.classifiers:
            self.classifiers.append(Classifier(self.workspace, self.home, ignored=self.book.ignored, roots=self.roots))
        return self.classifiers[0]

    def names(self, word: Word) -> list[str] | None:
        """Return the names that a word expands to; None if unknown. A pattern without matches stands for itself."""
        if word.dynamic:
            return None
        if not word.is_pattern:
            return [word.text]
        if self.matches_oddly:
            return None
        found: list[str] = []
        pattern = build_pattern(word)
        behind = [("/", one) for at in self.folders for one in self.links.follow(os.path.join(at, pattern))]
        for folder, one in (*((at, pattern) for at in self.folders), *behind):
            matches = self._matches(one, folder)
            if matches is None:
                return None
            found += matches
        whole = [one.path for one in self.base(word) if one.place is Place.OUTSIDE and self.is_precious(one.path)]
        return [*found, *whole] or [word.text]  # who deletes all entries of a folder deletes it

    def _matches(self, pattern: str, folder: str) -> tuple[str, ...] | None:
        """Return the names that a pattern matches; None if they, or its ways to match hidden names, are too many."""
        if not (self.matches_hidden or self.variables.lost):
            return self.facts.matches(pattern, folder)
        patterns = add_hidden_patterns(pattern)
        found = [self.facts.matches(one, folder) for one in patterns] if patterns else [None]
        return None if None in found else tuple(dict.fromkeys(name for names in found for name in names or ()))

    def targets(self, word: Word) -> list[Found]:
        """Return where a word leads, as far as that is known; empty if it is not."""
        some = [one for one in word.possible if UNKNOWN not in one.text]
        named = [(name, one.quoted) for one in some for name in self.names(one) or ()]
        return [place for name, quoted in named for place in self.places(name, quoted=quoted)]

    def entries(self, word: Word) -> list[Found]:
        """Return what a word names: a link itself, and not what it leads to."""
        return [self._classifier().resolve_entry(one) for one in self.targets(word)]

    def base(self, word: Word) -> list[Found]:
        """Return the folder whose whole content a pattern like `DIR/*` names."""
        found: list[Found] = []
        for one in word.possible:
            head, star, rest = one.text.partition("*")
            whole = star and one.is_pattern and not rest.strip("*/.") and (not head or head.endswith(("/", "/.", "/?")))
            if whole and UNKNOWN not in one.text:
                found += self.places(head.rstrip(".?") or ".", quoted=one.quoted)
        return found

    def may_be_precious(self, word: Word) -> bool:
        """Return True if an unknown word may turn out to be something that must not be deleted."""
        return word.dynamic != "" and any(self._may_lead_up(one.text) for one in word.could or (Word("", _NOTHING),))

    def _may_lead_up(self, text: str) -> bool:
        head, unknown, _ = text.partition(UNKNOWN)
        if not unknown:
            return False
        folder = head[: head.rfind("/") + 1]
        if not folder:
            return not head
        try:
            found = self.find(folder, quoted=True)
        except ToolFailure:
            return True
        above = self.real_roots[0]
        return any(self.is_precious(one.path) and (one.path != above or head == folder) for one in found)

    def is_precious(self, path: str) -> bool:
        """Return True if deleting a path destroys the system, a home, the workspace or its Git history."""
        user = find_real_path(os.path.expanduser("~"))
        if any(is_within(kept, path) for kept in (user, *self.real_roots)) or path in _ROOTS:
            return True
        depth = path.strip("/").count("/")
        inside = any(is_within(path, root) for root in self.real_roots)
        if depth == 0 and not inside and path != "/tmp":
            return True
        folder, name = os.path.split(path)
        return inside and (name == ".git" or (os.path.basename(folder) == ".git" and name in HISTORY))

    def holds_own_state(self, path: str) -> bool:
        return is_within(find_real_path(self.home), path)


def _unite(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*some, *others)))
