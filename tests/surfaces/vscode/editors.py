"""The editor area of a VS Code window: its tabs, the buttons of their title, the text and the two sides of a diff."""

from dataclasses import dataclass

from playwright.async_api import Locator, Page, expect

_READ_TABS = """tabs => tabs.map(tab => [
    [...tab.querySelectorAll('.label-name, .label-suffix')].map(part => part.textContent).join(''),
    tab.classList.contains('active'),
    tab.classList.contains('dirty'),
])"""
"""VS Code draws the ending of a file's name apart from the name."""


@dataclass(frozen=True, slots=True)
class Tab:
    title: str
    is_active: bool = False
    is_dirty: bool = False


class Editors:
    """Everything here is about the active group. Texts are of what is in view: use files that fit."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def list_tabs(self) -> list[Tab]:
        return [Tab(*values) for values in await self._tabs.evaluate_all(_READ_TABS)]

    def tab(self, title: str) -> Locator:
        """A tab by a part of its title. `.wait_for()` waits for it, `.wait_for(state="detached")` for its end."""
        return self._tabs.filter(has_text=title).first

    async def close_tab(self, title: str) -> None:
        """Close a tab with the middle button. One with unsaved text asks: `workbench.answer_dialog`."""
        await self.tab(title).click(button="middle")

    def title_button(self, label: str) -> Locator:
        """A button that an extension put in the title of the active editor, such as Approve of a diff."""
        return self.page.locator(".editor-group-container.active .title .editor-actions").get_by_role(
            "button", name=label
        )

    async def press_title_button(self, label: str) -> None:
        await self.title_button(label).click()

    async def wait_for_diff(self) -> None:
        """Wait until a diff is shown, with both sides."""
        for side in (self.original, self.modified):
            await side.locator(".view-line").first.wait_for()

    @property
    def original(self) -> Locator:
        return self.page.locator(".monaco-diff-editor .editor.original .monaco-editor")

    @property
    def modified(self) -> Locator:
        return self.page.locator(".monaco-diff-editor .editor.modified .monaco-editor")

    @property
    def text_editor(self) -> Locator:
        """The active editor of one file."""
        return self.page.locator(".editor-group-container.active .editor-instance > .monaco-editor")

    def cell_line(self, text: str) -> Locator:
        """A line in a cell of the notebook in front."""
        return self.page.locator(".notebookOverlay .view-line").filter(has_text=text).first

    async def read(self, editor: Locator) -> str:
        """The lines in view, of `original`, `modified` or `text_editor`."""
        lines = await editor.locator(".view-lines .view-line").evaluate_all(
            "lines => lines.map(line => [parseInt(line.style.top), line.textContent])"
        )
        return "\n".join(text.replace("\xa0", " ") for _, text in sorted(lines))

    async def wait_for_text(self, editor: Locator, text: str) -> None:
        await expect(editor.locator(".view-lines")).to_contain_text(text.replace(" ", "\xa0"))

    async def replace_text(self, editor: Locator, text: str) -> None:
        """Replace all of an editor's text as people do: select all, and type. The file is not saved."""
        await editor.locator(".view-lines").click()
        await self.page.keyboard.press("Control+A")
        await self.page.keyboard.insert_text(text)

    async def save(self) -> None:
        """Save the active editor, and wait until nothing in it is unsaved."""
        await self.page.keyboard.press("Control+S")
        await self.page.locator(".tabs-container .tab.active:not(.dirty)").first.wait_for()

    @property
    def _tabs(self) -> Locator:
        return self.page.locator(".part.editor .tabs-container .tab")
