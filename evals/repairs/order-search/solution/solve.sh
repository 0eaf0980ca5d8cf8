#!/bin/bash
set -e
cat > orders.py <<'EOF'
"""Search in orders, for the page of the office."""

import sqlite3

COLUMNS = ("id", "customer", "cents")


def _is_whole(number):
    return isinstance(number, int) and not isinstance(number, bool)


def search(database: sqlite3.Connection, text="", sort="id", limit=20):
    """Return (id, customer, cents) of orders whose customer has the text in the name.

    Sorted by a column, with "-" in front of it from the largest to the smallest; equal ones by id.
    """
    column = sort.removeprefix("-")
    if column not in COLUMNS:
        raise ValueError(f"cannot sort by {sort}")
    if not _is_whole(limit) or not 1 <= limit <= 100:
        raise ValueError("the limit must be from 1 to 100")
    direction = "DESC" if sort.startswith("-") else "ASC"
    pattern = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    query = (
        "SELECT id, customer, cents FROM orders WHERE customer LIKE ? ESCAPE '\\' "
        f"ORDER BY {column} {direction}, id LIMIT ?"
    )
    return database.execute(query, (f"%{pattern}%", limit)).fetchall()


def find_many(database: sqlite3.Connection, ids):
    """Return (id, customer, cents) of the orders with these ids, by id."""
    wanted = list(ids)
    if not all(_is_whole(id) for id in wanted):
        raise ValueError("ids are whole numbers")
    found = []
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        marks = ", ".join("?" * len(part))
        query = f"SELECT id, customer, cents FROM orders WHERE id IN ({marks})"
        found += database.execute(query, part).fetchall()
    return sorted(set(found))


def rename(database: sqlite3.Connection, old, new):
    """Give a customer another name; return how many orders changed."""
    with database:
        return database.execute("UPDATE orders SET customer = ? WHERE customer = ?", (new, old)).rowcount
EOF
