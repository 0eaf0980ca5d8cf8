"""Whatever reads JSON that others wrote refuses what is nested too deeply, by the one module that knows how."""

import re
from pathlib import Path

import msgspec
import pytest

from halocline.protocol import codec, json_input
from halocline.providers.reply import parse_arguments
from halocline.surfaces.web import wire

SOURCE = Path(codec.__file__).parents[1]
OWN = {
    "services/replay/differences.py",
    "providers/accepted.py",
    "providers/sap/request.py",
    "services/settings.py",
    "hosts/ripgrep.py",
    "hosts/files/transaction.py",
    "protocol/json_input.py",
    "store/tasks/recording.py",
    "store/permissions/instruction_switches.py",
    "store/secrets/store.py",
}
"""Modules that read what we wrote ourselves, or encoded a moment ago."""
CATCHING = {"runtime/prompts/output_schema.py", "task/structured_answer.py"}
"""Modules that catch it themselves."""
DEEP = "[" * 5_000 + "]" * 5_000


def test_every_other_module_reads_json_by_the_one_that_refuses_deep_nesting() -> None:
    raw = re.compile(r"msgspec\.json\.(?:decode|Decoder)\(")
    found = {
        str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if raw.search(path.read_text(encoding="utf-8"))
    }
    assert found == OWN | CATCHING


STRICT = {
    "store/mcp/servers.py": "a list in our own format is also written, and comments would be lost",
    "store/permissions/trust.py": "its own list of folders",
}
"""Modules that know the table of locations and read some JSON without comments."""


def test_settings_of_other_programs_are_read_with_comments_and_a_byte_order_mark() -> None:
    places = re.compile(r"protocol\.config_locations|protocol\.mcp_formats|importers\.foreign_setting")
    strict = re.compile(r"json_input\.decode\((?!json_input\.without_comments)|json_stream\.read_whole")
    texts = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    readers = {name for name, text in texts.items() if places.search(text)}
    assert {"importers/program_settings.py", "importers/mcp_servers.py", "importers/cline/settings.py"} <= readers
    assert {name for name in readers if strict.search(texts[name])} <= STRICT.keys()
    assert [name for name in readers if name.startswith("importers/") and "tomllib" in texts[name]] == []


def test_surfaces_write_json_by_the_module_that_takes_any_text() -> None:
    raw = re.compile(r"msgspec\.json\.(?:encode\(|Encoder\()")
    surfaces = (SOURCE / "surfaces").rglob("*.py")
    assert [path for path in surfaces if raw.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "read",
    [
        json_input.decode,
        json_input.Decoder().decode,
        wire.decode_frame,
        lambda text: codec.decode(text.encode()),
        lambda text: wire.decode_frame(f'{{"type":"do","id":"1","name":"x","arguments":{{"a":{text}}}}}'),
        lambda text: codec.decode(f'{{"type":"todos_changed","seq":1,"later":{text}}}'.encode()),
    ],
)
def test_deep_json_is_refused_as_no_json_is(read) -> None:
    with pytest.raises(msgspec.DecodeError):
        read(DEEP)


def test_arguments_of_a_model_that_are_too_deep_are_none() -> None:
    assert parse_arguments(f'{{"a":{DEEP}}}') is None
