"""Earlier states of tasks and files: checkpoints, restores, rewinds, forks, replays."""

from halocline.checkpoints.restore.compare import Comparison as Comparison, FileDifference as FileDifference
from halocline.checkpoints.restore.restore import Restored as Restored, RestorePlan as RestorePlan
from halocline.checkpoints.saved import CheckpointInfo as CheckpointInfo
from halocline.runtime.history.forks import Fork as Fork
from halocline.runtime.history.restore_preview import (
    RestorePreview as RestorePreview,
    find_undo_target as find_undo_target,
    list_newest_first as list_newest_first,
    preview_restore as preview_restore,
)
from halocline.runtime.history.revert import HunkReversal as HunkReversal, revert_hunk as revert_hunk
from halocline.runtime.history.snapshots import (
    PastPrompt as PastPrompt,
    Snapshot as Snapshot,
    SnapshotPoint as SnapshotPoint,
    name_checkpoint as name_checkpoint,
)
from halocline.runtime.prompts.handover import format_handover as format_handover
from halocline.services.replay.replay import Replay as Replay
