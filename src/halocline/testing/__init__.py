"""The test kit that is shipped.

For programs that use Halocline: a scripted model (`Scripted`, `Turn`, `Call`, `Fault`), what its task did (`calls_of`,
`assert_called`, `replay`), files in memory for a `Host` (`MemoryFiles`), and a plug-in for pytest with fixtures
(`halocline.testing.fixtures`).
"""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_names_of

if TYPE_CHECKING:
    from halocline.providers.scripted.model import Call as Call, Fault as Fault, Scripted as Scripted, Turn as Turn
    from halocline.testing.checks import (
        PlayedCall as PlayedCall,
        assert_called as assert_called,
        calls_of as calls_of,
        replay as replay,
    )
    from halocline.testing.memory_files import MemoryFiles as MemoryFiles

_PLACES = {
    "providers.scripted.model": "Call Fault Scripted Turn",
    "testing.checks": "PlayedCall assert_called calls_of replay",
    "testing.memory_files": "MemoryFiles",
}
"""The names for programs, by module. The imports above say the same to type checkers."""
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}

if not TYPE_CHECKING:  # so that type checkers report names that are not there
    __getattr__ = load_names_of(__name__, _MODULES)

    def __dir__() -> list[str]:
        return sorted(_MODULES)
