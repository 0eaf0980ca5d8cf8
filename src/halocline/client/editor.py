"""Files, terminals and models of an editor that hosts Halocline."""

from halocline.ports.diagnostics import Problem as Problem
from halocline.ports.editor import CheckedFiles as CheckedFiles, TerminalCommand as TerminalCommand
from halocline.ports.editor_models import (
    EditorModel as EditorModel,
    EditorModelFailure as EditorModelFailure,
    ReplyPart as ReplyPart,
)
from halocline.ports.host import FileChangedOutside as FileChangedOutside
from halocline.runtime.parts.editor_parts import EditorParts as EditorParts
