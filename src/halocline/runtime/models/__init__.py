"""Choose a task's model, its endpoint and its key."""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.runtime.models import local_servers as local_servers, model_names as model_names
else:
    __getattr__ = load_modules_of(__name__)
