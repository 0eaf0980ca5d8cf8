"""The test kit that is shipped.

For programs that use Halocline: a scripted model (`Scripted`, `Turn`, `Call`, `Fault`), `calls_of`, `replay`, and the
fixtures of `halocline.testing.fixtures`. For Halocline itself: a model server for each wire format, a proxy server, and
faults at writes.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from halocline.providers.scripted.model import Call as Call, Fault as Fault, Scripted as Scripted, Turn as Turn
    from halocline.testing.checks import PlayedCall as PlayedCall, calls_of as calls_of, replay as replay

_PLACES = {
    "providers.scripted.model": "Call Fault Scripted Turn",
    "testing.checks": "PlayedCall calls_of replay",
}
"""The names for programs, by module. The imports above say the same to type checkers."""
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}

if not TYPE_CHECKING:  # so that type checkers report names that are not there

    def __getattr__(name: str) -> object:
        """Load a name for programs. Raises AttributeError if there is none."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"halocline.{_MODULES[name]}"), name)
