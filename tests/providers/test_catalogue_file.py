import json
import zlib
from pathlib import Path

import msgspec
import pytest

from halocline.providers.catalog.build import pack_catalogue
from halocline.providers.catalog.file import BUNDLED, GZIP, Catalogue, CatalogueFile
from halocline.providers.catalog.models import ModelInfo, Prices, Tier

# A row of models.dev's api.json, whole, and some that are odd.
LISTED = {
    "id": "big-1",
    "name": "Big 1",
    "family": "big",
    "attachment": True,
    "reasoning": True,
    "reasoning_options": [{"type": "effort", "values": ["low", "high"]}],
    "tool_call": True,
    "interleaved": {"field": "reasoning_content"},
    "temperature": False,
    "release_date": "2026-07-09",
    "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]},
    "open_weights": False,
    "limit": {"context": 1050000, "input": 922000, "output": 128000},
    "cost": {
        "input": 4,
        "output": 20,
        "cache_read": 0.4,
        "cache_write": 5,
        "tiers": [{"input": 8, "output": 30, "cache_read": 0.8, "tier": {"type": "context", "size": 272000}}],
        "context_over_200k": {"input": 8, "output": 30, "cache_read": 0.8},
    },
}
OLD = {"limit": {"context": 1e6}, "cost": {"input": 1.5, "output": 2, "context_over_200k": {"input": 3, "output": 4}}}
API = {
    "far": {
        "id": "far",
        "name": "Far",
        "env": ["FAR_API_KEY"],
        "api": "https://far.example/v1/",
        "npm": "@ai-sdk/openai-compatible",
        "doc": "https://far.example",
        "models": {
            "big-1": LISTED,
            "old": OLD,
            "leaving": {"tool_call": True, "status": "deprecated"},
            "painter": {"limit": {"context": 5}, "modalities": {"input": ["text"], "output": ["image"]}},
            "nothing": {"name": "Nothing"},
            "broken": {"limit": "none"},
            "priceless": {"tool_call": True, "interleaved": True, "cost": None},
        },
    },
    "empty": {"models": {}},
}


def made(path: Path, api: object = API, date: str = "2026-11-01") -> Path:
    path.write_bytes(pack_catalogue(json.dumps(api).encode(), date, ("a test",)))
    return path


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(made(tmp_path / "catalogue.gz"))


def test_a_model_of_models_dev_is_known_with_all_that_we_use(catalogue: Catalogue) -> None:
    assert catalogue.model("far", "big-1") == ModelInfo(
        title="Big 1",
        window=1_050_000,
        max_output=128_000,
        prices=Prices(4, 20, 0.4, 5),
        tiers=(Tier(272_000, Prices(8, 30, 0.8)),),
        tools=True,
        images=True,
        thinking=True,
        reasoning_field="reasoning_content",
    )


def test_an_older_form_of_tiers_is_understood(catalogue: Catalogue) -> None:
    info = catalogue.model("far", "old")
    assert info == ModelInfo(
        window=1_000_000,
        prices=Prices(1.5, 2),
        tiers=(Tier(200_000, Prices(3, 4)),),
        tools=False,
        images=False,
        thinking=False,
    )


def test_what_cannot_be_talked_to_or_read_is_left_out(catalogue: Catalogue) -> None:
    assert catalogue.names("far") == ["big-1", "leaving", "old", "priceless"]
    leaving = catalogue.model("far", "leaving")
    assert leaving is not None
    assert leaving.leaving


def test_a_price_that_is_not_listed_is_unknown(catalogue: Catalogue) -> None:
    info = catalogue.model("far", "priceless")
    assert info is not None
    assert info.prices is None


def test_a_dated_name_is_the_model_without_its_date(catalogue: Catalogue) -> None:
    assert catalogue.model("far", "big-1-20261001") == catalogue.model("far", "big-1")
    assert catalogue.model("far", "big-1-2026") is None


def test_a_provider_is_known_with_its_address_and_key(catalogue: Catalogue) -> None:
    entry = catalogue.provider("far")
    assert entry is not None
    assert (entry.name, entry.env, entry.api) == ("Far", ("FAR_API_KEY",), "https://far.example/v1")
    assert catalogue.provider("near") is None


def test_the_same_facts_give_the_same_bytes() -> None:
    turned = {name: API[name] for name in reversed(API)}
    turned["far"] = {**API["far"], "models": dict(reversed(API["far"]["models"].items()))}
    first, second = (pack_catalogue(json.dumps(api).encode(), "2026-11-01", ("a test",)) for api in (API, turned))
    assert first == second


@pytest.mark.parametrize("document", [b"", b"<html>", b"[]", b"{}", b'{"far":{"models":{}}}', b'{"far":{"models":[]}}'])
def test_a_document_that_lists_no_models_is_refused(document: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        pack_catalogue(document, "2026-11-01", ())


def test_the_file_can_be_read_with_the_usual_tools(tmp_path: Path) -> None:
    data = made(tmp_path / "catalogue.gz").read_bytes()
    lines = []
    while data:
        member = zlib.decompressobj(GZIP)
        lines.append(json.loads(member.decompress(data)))
        data = member.unused_data
    assert lines[0]["providers"].keys() == {"far", "empty"}
    assert lines[2]["big-1"]["window"] == 1_050_000


@pytest.mark.parametrize("damage", [b"", b"no gzip", b"\x1f\x8b\x08\x00"])
def test_a_damaged_file_is_as_if_it_were_not_there(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "catalogue.gz"
    path.write_bytes(damage)
    assert CatalogueFile.open(path) is None
    assert Catalogue(path, BUNDLED).provider("anthropic") is not None


def test_a_file_that_is_cut_off_loses_only_what_is_cut(tmp_path: Path) -> None:
    path = made(tmp_path / "catalogue.gz")
    path.write_bytes(path.read_bytes()[:-20])
    cut = Catalogue(path)
    assert cut.provider("far") is not None
    assert cut.names("far") == []


def test_the_newer_file_is_asked_first_whichever_it_is(tmp_path: Path) -> None:
    new = {"far": {"models": {"big-1": {"limit": {"context": 7}}}}}
    older, newer = made(tmp_path / "a.gz"), made(tmp_path / "b.gz", new, "2026-12-01")
    for paths in ((older, newer), (newer, older)):
        both = Catalogue(*paths)
        info, left = both.model("far", "big-1"), both.model("far", "old")
        assert info is not None
        assert (info.window, left is None) == (7, False)


def test_what_ships_is_whole_and_small() -> None:
    bundled = Catalogue(BUNDLED)
    contents = bundled.files[0].contents
    assert BUNDLED.stat().st_size <= 250_000
    assert (contents.licence, bool(contents.sources)) == ("MIT", True)
    assert len(contents.providers) > 200
    infos = [bundled.model(name, model) for name in contents.providers for model in bundled.names(name)]
    assert len(infos) > 8_000
    assert all((info and info.prices != Prices(0, 0, 0, 0)) or info for info in infos)


@pytest.mark.parametrize("provider", ["anthropic", "openai", "google", "xai", "deepseek", "mistral"])
def test_the_first_vendors_models_have_windows_and_prices(provider: str) -> None:
    bundled = Catalogue(BUNDLED)
    for name in bundled.names(provider):
        info = bundled.model(provider, name)
        assert info is not None
        if info.tools:
            assert info.window, name
            assert info.prices or info.leaving or provider in ("google", "mistral"), name
