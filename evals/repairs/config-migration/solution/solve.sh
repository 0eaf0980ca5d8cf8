#!/bin/bash
set -e
cat > migrate.py <<'EOF'
"""Brings a settings file of the first format into the second; see FORMAT.md."""

import datetime
import json
import math
import sys
import tomllib

KNOWN = ("host", "port", "debug", "timeout", "users")


def migrate(text):
    """Return the text of a file in the second format."""
    old = tomllib.loads(text)
    if old.get("format") == 2:
        return text
    new = {
        "format": 2,
        "server": {"host": old.get("host", "localhost"), "port": old.get("port", 80)},
        "log": {"level": "debug" if old.get("debug") is True else "info"},
    }
    if "timeout" in old:
        new["limits"] = {"timeout_seconds": old["timeout"] / 1000}
    users = [user.partition(":") for user in old.get("users", [])]
    if users:
        new["users"] = [{"name": name, "role": role if colon else "reader"} for name, colon, role in users]
    extra = {key: value for key, value in old.items() if key not in KNOWN}
    if extra:
        new["extra"] = extra
    return "".join(f"{quote(key)} = {show(value)}\n" for key, value in new.items())


def quote(text):
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def show(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, list):
        return "[" + ", ".join(show(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quote(key)} = {show(item)}" for key, item in value.items()) + "}"
    return str(value)


if __name__ == "__main__":
    sys.stdout.write(migrate(sys.stdin.read()))
EOF
