"""Reads contacts that people export from their spreadsheets: name, mail, town."""

import csv


def read_contacts(path):
    """Return the contacts of a file, each with name, mail and town, without blanks around them."""
    with open(path, encoding="utf-8") as file:
        return [
            {key: row[key].strip() for key in ("name", "mail", "town")}
            for row in csv.DictReader(file)
        ]
