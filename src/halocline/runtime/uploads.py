"""Files and images that a surface uploads for a prompt, and suggestions for mentions. No task has to be open."""

from collections.abc import Callable
from pathlib import Path

from halocline.checkpoints.shadow_git import BY_HAND
from halocline.hosts.documents.documents import ChildDocuments
from halocline.hosts.ripgrep import Ripgrep
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import UserPart
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.mentions.suggestions import Mentionable, folder_of, list_mentionable, mentionable_in
from halocline.runtime.models.vendors import takes_images
from halocline.runtime.parts.revisions import WorkspaceRevisions
from halocline.runtime.prompts.attachments import attach_file, attach_image, read_image
from halocline.task.task import Task


class Handing:
    """Uploads and suggestions of one home; `task` returns an open task."""

    def __init__(self, assembly: Assembly, task: Callable[[str], Task]) -> None:
        self._assembly = assembly
        self._task = task

    async def picture(self, name: str, data: bytes) -> tuple[UserPart, ...]:
        """Turn an image into prompt parts. Raises UsageError."""
        return await attach_image(name, data, ChildDocuments(), self._assembly.blobs)

    async def file(self, name: str, data: bytes) -> tuple[UserPart, ...]:
        """Turn any file into prompt parts. Raises UsageError."""
        return await attach_file(name, data, ChildDocuments(), self._assembly.blobs)

    def kept_picture(self, blob: str) -> tuple[str, bytes]:
        """Return the media type and bytes of a stored image. Raises UsageError."""
        return read_image(blob, self._assembly.blobs)

    async def mentionable(self, task: str) -> Mentionable:
        """List what can be mentioned in a task that is open here."""
        return await list_mentionable(self._task(task), self._assembly.home)

    async def mentionable_in(self, workspace: Path, task: str = "", roots: tuple[str, ...] = ()) -> Mentionable:
        """List what can be mentioned in a folder and other `roots`, for a task that is new or not open here."""
        revisions = WorkspaceRevisions(workspace, lambda: self._assembly.shadow_git(workspace, BY_HAND))
        folder = folder_of(workspace, roots, self._assembly.rule_files(workspace, roots).book(), Ripgrep(), revisions)
        return await mentionable_in(folder, self._assembly.home, task)

    async def takes_images(self, model: str = "") -> bool:
        """True if a model accepts images; without a name, the default one."""
        model = model or (await self._assembly.names(""))[Mode.ACT]
        return takes_images(model, self._assembly.settings, self._assembly.catalogue)
