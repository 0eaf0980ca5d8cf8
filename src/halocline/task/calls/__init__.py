"""A tool call from the model's request to its result."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.task.calls import judge as judge, policy_input as policy_input, tool_calls as tool_calls
else:
    __getattr__ = load_modules_of(__name__)
