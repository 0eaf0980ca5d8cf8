"""Packages that load their modules when they are first used.

Code that needs such a module only sometimes imports the package, and writes `package.module.name` where it uses it. The
package names these modules under TYPE_CHECKING, so that type checkers know them.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType


def load_names_of(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return a `__getattr__` for a package that hands on names of others: `modules` has the module of each name."""

    def load_name(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"halocline.{modules[name]}"), name)
        vars(sys.modules[package])[name] = found
        return found

    return load_name


def load_modules_of(package: str) -> Callable[[str], ModuleType]:
    """Return a `__getattr__` for a package, which imports the module of that name."""

    def load_module(name: str) -> ModuleType:
        module = f"{package}.{name}"
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return load_module
