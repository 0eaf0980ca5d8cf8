"""Many tasks, unattended: a queue that is a log, places to work in, acceptance, and a report.

What must stay true: an item whose end is in the log never runs again, and one that began continues its own task.
"""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.batch import harbor as harbor, items as items, queue as queue, report as report, run as run
else:
    __getattr__ = load_modules_of(__name__)
