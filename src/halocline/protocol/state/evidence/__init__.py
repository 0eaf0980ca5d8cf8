"""Evidence: what the log proves about the work of a task, and which claims of the model it contradicts."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.protocol.state.evidence import findings as findings
else:
    __getattr__ = load_modules_of(__name__)
