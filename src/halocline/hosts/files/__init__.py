"""Files on this machine."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.hosts.files import (
        declared_encodings as declared_encodings,
        line_ranges as line_ranges,
        transaction as transaction,
    )
else:
    __getattr__ = load_modules_of(__name__)
