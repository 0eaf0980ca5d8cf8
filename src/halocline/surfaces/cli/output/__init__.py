"""Output: screen, text and JSON."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.cli.output import markdown as markdown
else:
    __getattr__ = load_modules_of(__name__)
