"""The table of vendors: one that speaks a known API family is a row of `vendors.json`.

Rows take precedence over the catalog. `why` in a row is for its readers alone.
"""

from pathlib import Path

from halocline.protocol import json_input
from halocline.providers.catalog.vendor import Vendor

_ROWS = json_input.decode(Path(__file__).with_suffix(".json").read_bytes(), type=tuple[Vendor, ...])
VENDORS = {row.name: row for row in _ROWS}
