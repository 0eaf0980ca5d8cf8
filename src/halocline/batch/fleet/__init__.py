"""A batch on the nodes of a cluster: the driver has the queue and gives items away, a host on each node runs them.

What must stay true: an attempt has one end that counts, whatever dies; and no two attempts at an item run at a time.
"""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_modules_of

if TYPE_CHECKING:
    from halocline.batch.fleet import opening as opening
else:
    __getattr__ = load_modules_of(__name__)
