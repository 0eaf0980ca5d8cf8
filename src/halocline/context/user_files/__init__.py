"""Skills, agents, commands, notes and mentions that the user writes."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.context.user_files import agents as agents
else:
    __getattr__ = load_modules_of(__name__)
