"""Search in orders, for the page of the office."""

import sqlite3


def search(database: sqlite3.Connection, text="", sort="id", limit=20):
    """Return (id, customer, cents) of orders whose customer has the text in the name.

    Sorted by a column, with "-" in front of it from the largest to the smallest; equal ones by id.
    """
    direction = "DESC" if sort.startswith("-") else "ASC"
    query = (
        f"SELECT id, customer, cents FROM orders WHERE customer LIKE '%{text}%' "
        f"ORDER BY {sort.lstrip('-')} {direction}, id LIMIT {limit}"
    )
    return database.execute(query).fetchall()


def find_many(database: sqlite3.Connection, ids):
    """Return (id, customer, cents) of the orders with these ids, by id."""
    listed = ", ".join(str(id) for id in ids)
    return database.execute(f"SELECT id, customer, cents FROM orders WHERE id IN ({listed}) ORDER BY id").fetchall()


def rename(database: sqlite3.Connection, old, new):
    """Give a customer another name; return how many orders changed."""
    with database:
        return database.execute(f"UPDATE orders SET customer = '{new}' WHERE customer = '{old}'").rowcount
