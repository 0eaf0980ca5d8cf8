"""One conversation: the loop, its log, its inbox."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.task import (
        refused_pictures as refused_pictures,
        refused_tools as refused_tools,
        structured_answer as structured_answer,
    )
else:
    __getattr__ = load_modules_of(__name__)
