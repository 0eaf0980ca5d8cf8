"""The parts of a task that the editor brings which opens it: MCP servers, open files, errors and terminals."""

import os
from collections.abc import Sequence
from pathlib import Path

from halocline.hosts.files.editor_files import EditorFiles, EditorScope
from halocline.hosts.files.local import LocalFiles
from halocline.hosts.files.unsaved_text import UnsavedText
from halocline.hosts.language_servers.editor_diagnostics import EditorDiagnostics
from halocline.ports.diagnostics import Diagnostics
from halocline.ports.editor import Editor, ProblemSource, TerminalSource
from halocline.ports.host import Files
from halocline.ports.mcp_servers import Server
from halocline.protocol.values import Value
from halocline.task.log import Log


class EditorParts(Value, frozen=True):
    """`servers` are MCP servers besides the configured ones; `editor` gives and takes the text of open files.

    `problems` are the errors that the editor shows, `terminals` the person's terminals in it.
    """

    servers: tuple[Server, ...] = ()
    editor: Editor | None = None
    problems: ProblemSource | None = None
    terminals: TerminalSource | None = None

    def build_files(self, disk: LocalFiles, log: Log, folders: Sequence[Path], home: Path) -> Files:
        """Return a task's files: those on disk with the unsaved changes of the editor. It works in `folders`."""
        if self.editor is None:
            return disk
        unsaved = UnsavedText()
        log.attach(unsaved)
        scope = EditorScope(tuple(map(os.path.realpath, folders)), os.path.realpath(home))
        return EditorFiles(disk, self.editor, unsaved, scope)

    def build_diagnostics(self, servers: Diagnostics, wait: float) -> Diagnostics:
        """Return the errors that the editor shows; those of language servers for files that it does not check."""
        return EditorDiagnostics(self.problems, servers, wait) if self.problems else servers
