from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from halocline.hosts.code.tree_sitter import TreeSitter
from halocline.hosts.documents.documents import ChildDocuments
from halocline.hosts.files.local import LocalFiles
from halocline.hosts.ripgrep import Ripgrep
from halocline.hosts.shell.shell import LocalShell
from halocline.hosts.web.fetch import LocalWeb
from halocline.net.network import DIRECT
from halocline.ports.tool import CurrentCall, TaskView, ToolContext, ToolHost, ToolOutput
from halocline.runtime.parts.revisions import WorkspaceRevisions
from halocline.store.blobs import DiskBlobs
from halocline.tools.toolset import Tools

Call = Callable[..., Awaitable[ToolOutput]]


async def nobody(question: str, options: Sequence[str], call: str) -> str | None:
    return None


async def anywhere(url: str, *, part: bool = False) -> tuple[str, ...]:
    return ("127.0.0.1",)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
async def context(workspace: Path, tmp_path: Path) -> AsyncIterator[ToolContext]:
    shell = LocalShell(tmp_path / "outputs")
    yield ToolContext(
        call=CurrentCall("call-1"),
        workspace=workspace,
        host=ToolHost(
            files=LocalFiles(),
            shell=shell,
            search=Ripgrep(),
            web=LocalWeb(lambda url: DIRECT),
            blobs=DiskBlobs(tmp_path / "blobs"),
            code=TreeSitter(),
            documents=ChildDocuments(),
            revisions=WorkspaceRevisions(workspace, lambda: None),
        ),
        task=TaskView(takes_images=lambda: True),
        ask=nobody,
        reach=anywhere,
        report=lambda text: None,
    )
    await shell.close()


@pytest.fixture
def call(context: ToolContext) -> Call:
    """Runs a tool by its name with arguments as a model sends them."""

    async def run(name: str, /, **arguments: object) -> ToolOutput:
        tool = Tools().find(name)
        assert tool is not None
        return await tool.run(msgspec.convert(arguments, tool.input, strict=False), context)

    return run


@pytest.fixture
def say(call: Call) -> Callable[..., Awaitable[str]]:
    """The same, giving only the text the model reads."""

    async def run(name: str, /, **arguments: object) -> str:
        return "".join(part.text for part in (await call(name, **arguments)).content if hasattr(part, "text"))

    return run
