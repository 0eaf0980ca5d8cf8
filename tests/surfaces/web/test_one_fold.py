"""Events are folded once, in Python: the page gets rows and facts, and knows nothing of events."""

import re
from pathlib import Path

from halocline.protocol.events import DurableEvent, TransientEvent

SCRIPTS = Path(__file__).parents[3] / "src" / "halocline" / "surfaces" / "web" / "static" / "js"
ENGLISH = {"imported", "compacted", "noticed"}
"""Names of events that are also words of other things."""
TAGS = {str(kind.__struct_config__.tag) for kind in (*DurableEvent.__args__, *TransientEvent.__args__)} - ENGLISH


def test_no_script_of_the_page_names_an_event() -> None:
    named = re.compile(rf"\b(?:{'|'.join(sorted(TAGS))})\b")
    found = {
        (str(script.relative_to(SCRIPTS)), hit[0])
        for script in SCRIPTS.rglob("*.js")
        for hit in named.finditer(script.read_text(encoding="utf-8"))
    }
    assert len(TAGS) > 50
    assert found == set()
