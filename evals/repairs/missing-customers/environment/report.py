"""Who bought how much: runs turnover.sql."""

import sqlite3
from pathlib import Path

QUERY = Path(__file__).with_name("turnover.sql")


def report(database: sqlite3.Connection, region: str) -> list[tuple[str, int, int]]:
    """Return name, orders and cents of all customers outside a region."""
    return database.execute(QUERY.read_text(), {"region": region}).fetchall()
