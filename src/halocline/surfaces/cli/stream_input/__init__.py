"""`--input-format stream-json`: a program sends messages and commands on standard input while events are printed."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.surfaces.cli.stream_input import serve as serve
else:
    __getattr__ = load_modules_of(__name__)
