"""Writes a task as a document: Markdown, a page, or its events; and the report of many as a page."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.export import batch_report as batch_report
else:
    __getattr__ = load_modules_of(__name__)
