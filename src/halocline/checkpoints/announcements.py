"""Tells a task about its checkpoints: an event for each one, and one message for each kind of problem."""

from collections.abc import Sequence

from halocline.checkpoints import repository
from halocline.checkpoints.changes.claims import Claims
from halocline.checkpoints.index.background_reading import describe_delay
from halocline.checkpoints.saved import Saved
from halocline.checkpoints.store.git import LEAVE_OUT, Blocked, CheckpointsOff, Stopped, TakesLong
from halocline.ports.checkpoints import Emit
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import CheckpointFailed, CheckpointTaken, Noticed
from halocline.protocol.left_out import name_some

_WAITS = f"After {{:g}} s the task continues without a checkpoint. {LEAVE_OUT}"
_WORTH_A_WARNING = 1.0


class Announcements:
    """Sends events through `emit`, once it is set. A step waits at most `patience` seconds for a checkpoint."""

    def __init__(self, claims: Claims, patience: float) -> None:
        self.emit: Emit = lambda event: None
        self._claims = claims
        self._patience = patience
        self._has_warned = False
        self._has_announced = False
        self._has_complained = False
        self._has_reported_left_out = False
        self._has_reported_missing = False

    def notify(self, text: str) -> None:
        """Send a message."""
        self.emit(Noticed(text))

    def announce(self, taken: Sequence[CheckpointTaken]) -> None:
        """Send the events of new checkpoints."""
        for event in taken:
            self.emit(event)
            if not self._has_announced:  # it may be the task's first, which the next process checks
                self._claims.note_known(event.checkpoint)
        self._has_announced |= bool(taken)

    def warn(self) -> None:
        """Say that a checkpoint takes long, unless that was said."""
        if not self._has_warned and self._patience >= _WORTH_A_WARNING:
            self._has_warned = True
            half, whole = self._patience / 2, self._patience
            self.notify(f"Saving this folder's files is taking more than {half:g} s. {_WAITS.format(whole)}")

    def report_delay(self, late: TakesLong) -> None:
        """Say when checkpoints will be ready."""
        self._has_warned = True
        self.notify(describe_delay(late))

    def complain(self, error: Exception) -> None:
        """Say that a checkpoint could not be saved."""
        match error:
            case Stopped():
                return
            case CheckpointsOff():
                text = f"Checkpoints are off: {error.text}. {error.hint}"
            case _:
                text = f"A checkpoint could not be saved: {error}"
        # A person can remove what git waits for, so each change that cannot be undone is reported.
        if isinstance(error, Blocked) or not self._has_complained:
            self._has_complained = True
            try:
                self.emit(CheckpointFailed(text, off=isinstance(error, CheckpointsOff)))
            except HaloclineError:  # the log cannot be written either
                self.notify(text)

    def report(self, saved: Saved) -> None:
        """Say what was lost with a damaged store or in one, and which files are left out."""
        if saved.aside is not None:
            self.notify(repository.stores.describe_loss(saved.aside))
        if saved.missing and not self._has_reported_missing:
            self._has_reported_missing = True
            self.notify(_describe_missing(saved.missing))
        if saved.left_out and not self._has_reported_left_out:
            self._has_reported_left_out = True
            self.notify(_describe_left_out(saved.left_out))


def _describe_missing(numbers: tuple[int, ...]) -> str:
    names = ", ".join(map(str, numbers))
    lost = f"checkpoints {names} of this task are" if len(numbers) > 1 else f"checkpoint {names} of this task is"
    return f"The checkpoint store is damaged: {lost} lost. The others can be restored."


def _describe_left_out(places: frozenset[bytes]) -> str:
    """Describe files that checkpoints leave out although no rule ignores them."""
    names = name_some([place.decode(errors="replace") for place in sorted(places)])
    return f"Checkpoints leave out very large files, unreadable files and nested repositories: {names}."
