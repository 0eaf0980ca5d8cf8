"""The README as package indexes show it: without what leads into the source tree, which is nowhere but in a clone.

No address of the project is ours yet (outside_names.toml), so a link into the tree becomes its words, and a picture of
it goes. hatchling asks for it with every build.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r'^<p [^>]*><img src="(?!https://)[^\n]*</p>\n+', re.MULTILINE)
_TESTS = re.compile(r" \(\[tests\]\((?!https://)[^)]*\)\)")
_LINK = re.compile(r"\[([^\]]+)\]\((?!https://)[^)]*\)")


def describe_package(readme: str) -> str:
    """Return the text without relative links and pictures."""
    return _LINK.sub(r"\1", _TESTS.sub("", _PICTURE.sub("", readme)))


class PageHook(MetadataHookInterface):
    """Gives the long description of the package."""

    def update(self, metadata: dict[str, object]) -> None:
        """Set the readme."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": describe_package(text)}
