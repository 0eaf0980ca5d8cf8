"""Everything a live task needs: assembly, models, prompts, rules, sub-agents, history, and attached processes."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.runtime import (
        apply_command as apply_command,
        litter as litter,
        model_switch as model_switch,
        resume as resume,
        traces as traces,
        uploads as uploads,
    )
else:
    __getattr__ = load_modules_of(__name__)
