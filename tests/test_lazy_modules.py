import sys

import pytest

from halocline import tools

PACKAGE = "from halocline.lazy_modules import load_modules_of\n\n__getattr__ = load_modules_of(__name__)\n"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, one of which needs a library that is not installed."""
    folder = tmp_path / "lazy_example"
    folder.mkdir()
    (folder / "__init__.py").write_text(PACKAGE)
    (folder / "sound.py").write_text("ANSWER = 42\n")
    (folder / "broken.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import lazy_example

    yield lazy_example
    for name in [name for name in sys.modules if name.split(".")[0] == "lazy_example"]:
        del sys.modules[name]


def test_a_module_is_loaded_when_it_is_first_used(package):
    assert "lazy_example.sound" not in sys.modules
    assert package.sound.ANSWER == 42
    assert "lazy_example.sound" in sys.modules


def test_a_missing_library_is_named_even_if_a_lazy_module_needs_it(package):
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        _ = package.broken


def test_a_package_has_no_attributes_but_its_modules():
    with pytest.raises(AttributeError, match=r"module 'halocline\.tools' has no attribute 'no_such_tool'"):
        _ = tools.no_such_tool
