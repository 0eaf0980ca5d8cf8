import json
import stat
import sys
import zipfile

import pytest

from halocline.mcp.registry.bundles import build_server_entry, list_wanted_fields, read_bundle, unpack_bundle
from halocline.protocol.errors import UsageError

CONFIG = {
    "command": "node",
    "args": ["${__dirname}/server.js", "${user_config.folders}"],
    "env": {"KEY": "${user_config.key}"},
}
WISHES = {
    "folders": {"type": "directory", "multiple": True, "required": True, "title": "Folders"},
    "key": {"type": "string", "sensitive": True, "required": True},
    "most": {"type": "number", "min": 1, "max": 9, "default": 3},
}


@pytest.fixture
def bundle(tmp_path):
    """Makes a bundle of a manifest and files; a file is its text, or its text and the mode that the archive names."""

    def made(files=None, **manifest):
        place = tmp_path / "x.mcpb"
        said = {"manifest_version": "0.3", "name": "x", "version": "1", "user_config": WISHES}
        said |= {"server": {"type": "node", "mcp_config": CONFIG}} | manifest
        with zipfile.ZipFile(place, "w") as archive:
            archive.writestr("manifest.json", json.dumps(said))
            for name, content in (files or {}).items():
                text, mode = content if isinstance(content, tuple) else (content, 0o100644)
                member = zipfile.ZipInfo(name)
                member.external_attr = mode << 16
                archive.writestr(member, text)
        return place

    return made


def test_what_will_be_run_is_known_before_anything_is_unpacked(bundle, tmp_path):
    found = read_bundle(bundle())
    folder = tmp_path / "mcp" / "x"
    values = {"folders": "/srv, /data", "key": "s3cret"}
    assert build_server_entry(found, folder, values) == {
        "command": "node",
        "args": [f"{folder}/server.js", "/srv", "/data"],
        "cwd": str(folder),
        "env": {"KEY": "s3cret"},
    }
    assert not folder.exists()


def test_what_it_wants_to_be_told_is_what_has_no_default(bundle):
    assert list(list_wanted_fields(read_bundle(bundle()), {"key": "k"})) == ["folders"]


def test_its_files_are_put_into_its_folder_and_programs_stay_programs(bundle, tmp_path):
    folder = tmp_path / "mcp" / "x"
    unpack_bundle(read_bundle(bundle({"server.js": "1", "bin/run": ("#!", 0o100755)})), folder)
    assert (folder / "server.js").read_text() == "1"
    assert stat.S_IMODE((folder / "bin/run").stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "server.js").stat().st_mode) == 0o600
    assert [each.name for each in folder.parent.iterdir()] == ["x"]


@pytest.mark.parametrize(
    "name",
    ["../out.js", "a/../../out.js", "/etc/out.js", "a\\..\\out.js", "MANIFEST.json", "a\x07b"],
)
def test_a_file_that_would_leave_the_folder_or_hide_another_is_refused(bundle, tmp_path, name):
    with pytest.raises(UsageError, match="unsafe file name"):
        read_bundle(bundle({name: "x"}))
    assert not (tmp_path / "out.js").exists()


def test_a_link_is_refused(bundle):
    with pytest.raises(UsageError, match="unsafe file name"):
        read_bundle(bundle({"link": ("/etc", stat.S_IFLNK | 0o777)}))


def test_a_bundle_that_is_not_what_was_named_is_refused(bundle):
    with pytest.raises(UsageError, match="does not match the expected hash"):
        read_bundle(bundle(), "0" * 64)


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({"server": {"mcp_config": {"command": "sh", "env": {"A": "${OPENAI_API_KEY}"}}}}, "which bundles may not"),
        ({"server": {"mcp_config": {}}}, "names no command"),
        ({"compatibility": {"platforms": ["win32"]}}, "runs only on win32"),
        ({"name": 7}, "Cannot read .* as a bundle"),
    ],
)
def test_a_manifest_that_cannot_be_used_says_why(bundle, manifest, said):
    with pytest.raises(UsageError, match=said):
        read_bundle(bundle(**manifest))


def test_a_default_gets_no_variable_of_the_person(bundle, tmp_path):
    wishes = {"it": {"type": "string", "default": "${OPENAI_API_KEY}"}}
    config = {"command": "node", "args": ["${user_config.it}"]}
    found = read_bundle(bundle(user_config=wishes, server={"mcp_config": config}))
    assert build_server_entry(found, tmp_path, {})["args"] == [""]


def test_a_value_that_does_not_fit_is_refused(bundle, tmp_path):
    with pytest.raises(UsageError, match="from 1"):
        build_server_entry(read_bundle(bundle()), tmp_path, {"folders": "/", "key": "k", "most": "12"})


def test_what_is_different_on_this_system_is_taken(bundle, tmp_path):
    config = {**CONFIG, "platform_overrides": {sys.platform: {"command": "${__dirname}/run", "env": {"B": "1"}}}}
    found = build_server_entry(
        read_bundle(bundle(server={"mcp_config": config})), tmp_path, {"folders": "/", "key": "k"}
    )
    assert (found["command"], found["env"]) == (f"{tmp_path}/run", {"KEY": "k", "B": "1"})


def test_what_is_no_archive_says_so(tmp_path):
    (tmp_path / "x.mcpb").write_text("no zip")
    with pytest.raises(UsageError, match=r"Cannot read .* as a bundle"):
        read_bundle(tmp_path / "x.mcpb")
