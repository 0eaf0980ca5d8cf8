"""Clean up text around calls: no blanks at its edges, and no code fence around a call. Pure."""

import re

_FENCE = re.compile(r"`{1,3}\w{0,12}")
_OPENER = re.compile(r"```\w+")


class Prose:
    """Passes text on as soon as it is certain to be shown; trailing blanks and a possible fence wait."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._said = False
        self._at_line_start = True
        self._after_call = False

    def say(self, text: str) -> str:
        """Add text; return what can be shown now."""
        if text.isspace():
            self._held.append(text)
            return ""
        text = "".join((*self._held, text))
        shown = self._without_fence(text.rstrip())
        self._held = [text[len(shown) :]]
        return self._show(shown)

    def end(self, *, at_call: bool) -> str:
        """Return the rest to show before a call, or at the end of the reply."""
        left = "".join(self._held).rstrip()
        self._held = []
        fence = left.strip()
        around = _OPENER.fullmatch(fence) or (fence == "```" and self._after_call and self._at_line_start)
        shown = "" if around else self._show(left)
        if at_call:
            self._after_call = self._at_line_start = True
        return shown

    def aside(self) -> str:
        """Return the rest to show before a thought: a fence opened before one does not enclose a call."""
        left = "".join(self._held)
        if not _OPENER.fullmatch(left.strip()):
            return ""
        fence = left.rstrip()
        self._held = [left[len(fence) :]]
        return self._show(fence)

    def _show(self, text: str) -> str:
        if not self._said:
            text = text.lstrip()
        if text:
            self._said, self._at_line_start = True, False
        return text

    def _without_fence(self, text: str) -> str:
        """Return the text up to a last line that is, or may become, a code fence."""
        start = text.rfind("\n") + 1
        if (start or self._at_line_start) and _FENCE.fullmatch(text[start:].strip()):
            return text[:start].rstrip()
        return text
