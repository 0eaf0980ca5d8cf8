"""What the shelves have, and what has to be ordered."""


def tags(items):
    """Return all tags of the items."""
    return {tag for item in items for tag in item["tags"]}


def report(items):
    """Return a line for each tag: its name, and the names of its items."""
    lines = []
    for tag in tags(items):
        names = {item["name"] for item in items if tag in item["tags"]}
        lines.append(f"{tag}: {', '.join(names)}")
    return lines


def order_number(item):
    """Return the number under which an item is ordered: six digits, the same for the same name on any day."""
    return f"{abs(hash(item['name'])) % 1_000_000:06}"


def to_order(items, seen=set()):
    """Return the items of which there are fewer than 3, each name once, in the order in which they come."""
    found = []
    for item in items:
        if item["count"] < 3 and item["name"] not in seen:
            seen.add(item["name"])
            found.append(item["name"])
    return found
