"""The home, and two refusals before a command starts: within a task, and without a home that can be written."""

from halocline.runtime.own_program import refuse_from_task as refuse_from_task
from halocline.runtime.read_only_home import refuse_unwritable_home as refuse_unwritable_home
from halocline.store.paths import Home as Home, home_folder as home_folder
