"""Points in the past: `30d`, `12h`, `2w`, or a day such as `2026-11-01`."""

import re
import time
from datetime import datetime

from halocline.protocol.errors import UsageError

_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_AGO = re.compile(r"(\d{1,5})([mhdw])")


def parse_since(text: str) -> float:
    """Parse a point in the past into Unix seconds. Raises UsageError."""
    if found := _AGO.fullmatch(text.strip().lower()):
        return time.time() - int(found[1]) * _SECONDS[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).astimezone().timestamp()
    except ValueError as error:
        raise UsageError(f"{text!r} is not a time.", "Use 45m, 12h, 30d, 2w, or a day such as 2026-11-01.") from error
