"""Changes one setting in `settings.toml`; comments, order and everything else stay as they are.

A file that could not be loaded again is never written.
"""

import os
from pathlib import Path
from typing import Any

from halocline.files.durable import write_whole
from halocline.files.regular import read_regular
from halocline.protocol.errors import SettingsError
from halocline.store.settings.load import check_settings, without_setting


def change_setting(file: Path, name: str, value: Any) -> None:
    """Set `name`, a setting or a key of a table (`mcp.enabled`); None resets it to its default.

    Raises SettingsError: the rest of the file is invalid, the value is invalid, or the file cannot be written.
    """
    import tomllib

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(read_regular(file).decode("utf-8-sig") if file.exists() else "")
    except (OSError, UnicodeDecodeError, TOMLKitError, RecursionError) as error:
        raise SettingsError(f"Cannot read {file}: {error}.", "Fix the file or move it away.") from error
    check_settings(without_setting(document.unwrap(), name), str(file))
    try:
        _put_value(document, name.split("."), value)
    except (TOMLKitError, ValueError, TypeError) as error:
        raise SettingsError(f"Cannot set {name} to this value: {error}.", "Nothing was changed.") from error
    text = tomlkit.dumps(document)
    try:
        check_settings(tomllib.loads(text), str(file))
    except SettingsError as error:
        raise SettingsError(error.text, f"Nothing was changed. {error.hint}") from error
    _write_file(file, text)


def _put_value(document: Any, path: list[str], value: Any) -> None:
    import tomlkit

    *tables, last = path
    place = document
    for table in tables:
        if not isinstance(place.get(table), dict):
            place.pop(table, None)
            if value is None:
                return
            place[table] = tomlkit.table()
        place = place[table]
    if value is not None:
        place[last] = value
        return
    place.pop(last, None)
    if tables and not place.as_string().strip():  # no setting is left in the table, and no comment
        document.pop(tables[0])


def _write_file(file: Path, text: str) -> None:
    """Write the file atomically; if it is a link, write to its target."""
    real = Path(os.path.realpath(file))
    try:
        write_whole(real, text.encode(), real.stat().st_mode & 0o777 if real.exists() else 0o600)
    except OSError as error:
        raise SettingsError(f"Cannot write {file}: {error.strerror or error}.", "Nothing was changed.") from error
