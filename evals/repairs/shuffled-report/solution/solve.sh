#!/bin/bash
set -e
cat > inventory.py <<'EOF'
"""What the shelves have, and what has to be ordered."""

import zlib


def tags(items):
    """Return all tags of the items."""
    return sorted({tag for item in items for tag in item["tags"]})


def report(items):
    """Return a line for each tag: its name, and the names of its items."""
    lines = []
    for tag in tags(items):
        names = sorted({item["name"] for item in items if tag in item["tags"]})
        lines.append(f"{tag}: {', '.join(names)}")
    return lines


def order_number(item):
    """Return the number under which an item is ordered: six digits, the same for the same name on any day."""
    return f"{zlib.crc32(item['name'].encode()) % 1_000_000:06}"


def to_order(items):
    """Return the items of which there are fewer than 3, each name once, in the order in which they come."""
    return list(dict.fromkeys(item["name"] for item in items if item["count"] < 3))
EOF
