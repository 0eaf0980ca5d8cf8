"""Secret values, and redaction of secrets in text."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.protocol.secrets import (
        names as names,
        random_strings as random_strings,
        redaction as redaction,
    )
else:
    __getattr__ = load_modules_of(__name__)
