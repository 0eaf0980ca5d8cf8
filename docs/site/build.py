"""Builds the site of these pages: `make site`, or `python -m docs.site.build FOLDER`. It reads no network.

`navigation.toml` orders the pages. A link to a file outside docs/ leads to a page of that file, so that each proof can
be read on the site. A page loads only what lies beside it, so it also works from the disk and below any address.
"""

import html
import json
import os.path
import shutil
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from string import Template

from docs.site.rendering import Document, list_styles, render_code, render_document

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAVIGATION = HERE / "navigation.toml"
ASSETS = ("site.css", "site.js")
PICTURES = (".png", ".svg")


def locate(file: str) -> str:
    """Return where in the site a file of the repository is."""
    path = PurePosixPath(file)
    if path.suffix in PICTURES:
        return str(path)
    inside = path.parts[0] == "docs" and path.suffix == ".md"
    path = PurePosixPath(*path.parts[1:]) if inside else PurePosixPath("repository") / path
    if path.suffix != ".md":
        return f"{path}.html"
    return str(path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html"))


def relate(target: str, page: str) -> str:
    """Return the address of a place in the site, seen from another."""
    return os.path.relpath(target, os.path.dirname(page) or ".")


@dataclass(frozen=True)
class Section:
    """A part of the navigation: its title and the files of its pages, relative to the repository."""

    title: str
    files: tuple[str, ...]


def read_navigation() -> list[Section]:
    """Read the sections in their order."""
    rows = tomllib.loads(NAVIGATION.read_text(encoding="utf-8"))["section"]
    return [Section(row["title"], tuple(os.path.normpath(f"docs/{one}") for one in row["pages"])) for row in rows]


class Site:
    """All pages: those of the navigation, and the files that they link to."""

    def __init__(self) -> None:
        self.sections = read_navigation()
        self.listed = [file for section in self.sections for file in section.files]
        self.documents: dict[str, Document] = {}
        self.pictures: set[str] = set()
        self._template = Template((HERE / "page.html").read_text(encoding="utf-8"))
        waiting = list(self.listed)
        while waiting:
            if (file := waiting.pop()) not in self.documents:
                self.documents[file] = self._read(file)
                waiting += sorted(self._links)

    def _read(self, file: str) -> Document:
        self._links: set[str] = set()
        text = (ROOT / file).read_text(encoding="utf-8")
        if file.endswith(".md"):
            return render_document(text, lambda link: self._lead(file, link))
        return Document(file, f"<h1><code class=long>{html.escape(file)}</code></h1>{render_code(text, file)}", (), ())

    def _lead(self, file: str, link: str) -> str:
        """Return a link of a file as one of its page in the site, and take note of what it leads to."""
        path, _, anchor = link.partition("#")
        if not path or "://" in link or link.startswith("mailto:"):
            return link
        target = os.path.normpath(os.path.join(os.path.dirname(file), path))
        target += "/README.md" if (ROOT / target).is_dir() else ""
        (self.pictures if target.endswith(PICTURES) else self._links).add(target)
        return relate(locate(target), locate(file)) + (f"#{anchor}" if anchor else "")

    @cached_property
    def summary(self) -> str:
        """What Halocline is, in one sentence: the first of the start page."""
        return self.documents[self.listed[0]].rows[0][2]

    def write(self, folder: Path) -> None:
        """Write the site into a folder, in place of what is there."""
        shutil.rmtree(folder, ignore_errors=True)
        for file in self.documents:
            write_file(folder / locate(file), self._fill(file))
        for picture in self.pictures:
            write_file(folder / locate(picture), (ROOT / picture).read_bytes())
        for name in ASSETS:
            write_file(folder / name, (HERE / name).read_bytes())
        write_file(folder / "code.css", list_styles())
        write_file(folder / "search.js", f"window.searchRows = {json.dumps(list(self._rows()), ensure_ascii=False)};\n")
        write_file(folder / "llms.txt", "\n".join(self._list_pages()))

    def _fill(self, file: str) -> str:
        document, here = self.documents[file], locate(file)
        return self._template.substitute(
            title=html.escape(document.title),
            description=html.escape(self.summary if file == self.listed[0] else document.title),
            root=relate(".", here).rstrip("/") + "/",
            home=relate("index.html", here),
            navigation="".join(self._navigate(section, file) for section in self.sections),
            body=document.body,
            contents=_list_contents(document),
            around=self._show_neighbours(file),
        )

    def _navigate(self, section: Section, file: str) -> str:
        links = "".join(f"<li>{self._link(one, file)}</li>" for one in section.files)
        opened = " open" if file in section.files else ""
        return f"<details{opened}><summary>{html.escape(section.title)}</summary><ul>{links}</ul></details>\n"

    def _link(self, file: str, seen_from: str) -> str:
        current = ' aria-current="page"' if file == seen_from else ""
        address = relate(locate(file), locate(seen_from))
        return f'<a href="{address}"{current}>{html.escape(self.documents[file].title)}</a>'

    def _show_neighbours(self, file: str) -> str:
        if file not in self.listed:
            return ""
        at = self.listed.index(file)
        before, after = self.listed[max(at - 1, 0) : at], self.listed[at + 1 : at + 2]
        shown = [f"<span>← {self._link(one, file)}</span>" for one in before]
        return "".join([*shown, *(f'<span class="next">{self._link(one, file)} →</span>' for one in after)])

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for file in self.listed:
            document = self.documents[file]
            for anchor, heading, text in document.rows:
                yield f"{locate(file)}#{anchor}".rstrip("#"), document.title, heading, text

    def _list_pages(self) -> Iterator[str]:
        yield f"# Halocline\n\n> {self.summary}"
        for section in self.sections:
            yield f"\n## {section.title}\n"
            yield from (f"- [{self.documents[file].title}]({locate(file)})" for file in section.files)
        yield ""


def _list_contents(document: Document) -> str:
    links = "".join(
        f'<li class="h{level}"><a href="#{anchor}">{html.escape(text)}</a></li>'
        for level, anchor, text in document.headings
        if level > 1
    )
    return f"<p>On this page</p><ul>{links}</ul>" if len(document.headings) > 2 else ""


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    site = Site()
    site.write(target)
    print(f"{len(site.documents)} pages are in {target}: open {target / 'index.html'}")
