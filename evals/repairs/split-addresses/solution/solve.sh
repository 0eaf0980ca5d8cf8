#!/bin/bash
set -e
cat > migrate.py <<'EOF'
"""Brings the database to version 2; MIGRATION.md says what that is."""

import sqlite3
import sys


def migrate(path):
    """Migrate the database at a path. Raises ValueError, and changes nothing, where it cannot be done."""
    database = sqlite3.connect(path, isolation_level=None)
    try:
        database.execute("BEGIN IMMEDIATE")
        try:
            _migrate(database)
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
    finally:
        database.close()


def _migrate(database):
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version == 2:
        return
    if version != 1:
        raise ValueError(f"version {version} cannot be migrated")
    people = [
        (id, *map(str.strip, address.rpartition(",")[::2]))
        for id, address in database.execute("SELECT id, address FROM people ORDER BY id")
        if address is not None and address.strip()
    ]
    bad = [str(id) for id, street, town in people if not (street and town)]
    if bad:
        raise ValueError(f"addresses of these people cannot be migrated: {', '.join(bad)}")
    database.execute(
        "CREATE TABLE addresses (id INTEGER PRIMARY KEY, street TEXT NOT NULL, town TEXT NOT NULL, UNIQUE (street, town))"
    )
    database.execute("ALTER TABLE people ADD COLUMN address_id INTEGER REFERENCES addresses (id)")
    database.execute("ALTER TABLE people DROP COLUMN address")
    for id, street, town in people:
        database.execute("INSERT OR IGNORE INTO addresses (street, town) VALUES (?, ?)", (street, town))
        database.execute(
            "UPDATE people SET address_id = (SELECT id FROM addresses WHERE street = ? AND town = ?) WHERE id = ?",
            (street, town, id),
        )
    database.execute("PRAGMA user_version = 2")


if __name__ == "__main__":
    migrate(sys.argv[1])
EOF
rm to_2.sql
