"""Edits that wait or are on their way: what they propose, their parts, conflicts."""

from halocline.edits.proposals import (
    ProposedHunk as ProposedHunk,
    ProposedText as ProposedText,
    list_hunks as list_hunks,
    take_hunks as take_hunks,
)
from halocline.runtime.history.edit_conflicts import (
    ConflictingEdits as ConflictingEdits,
    PendingEdit as PendingEdit,
    find_conflicting_edits as find_conflicting_edits,
)
from halocline.runtime.history.edits_in_progress import (
    EditDraft as EditDraft,
    EditProgress as EditProgress,
    EditProposal as EditProposal,
    EditSettled as EditSettled,
)
