"""Servers that nobody here wrote: pyright, TypeScript's and ruff's own."""

import os
import sys
from pathlib import Path

import pytest
from tests.hosts.language_servers.set_up import MISSING, PROGRAMS, are_there

from halocline.ports.diagnostics import EditedText

CASES = {
    "pyright": ("a.py", "def f(x: int) -> int:\n    return x\n", "x", '"no"', "reportReturnType"),
    "typescript": ("a.ts", "export const f = (x: number): number => x;\n", " x;", " 'no';", "2322"),
    "ruff": ("a.py", "def f(x):\n    return x\n", "return x", "return x)", "invalid-syntax"),
}


@pytest.fixture(params=CASES)
def real(request, site):
    """A site where that server is on PATH, and what breaks and what mends a file."""
    folder = Path(sys.executable).parent if request.param == "ruff" else PROGRAMS
    if request.param != "ruff" and not are_there():
        pytest.skip(MISSING)
    site.real = {"env": {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}}
    return CASES[request.param]


async def test_a_real_server_tells_the_new_error_and_not_the_old_one(site, real):
    name, good, old, new, code = real
    already = good.replace(old, new).replace("f", "g", 2) if name.endswith(".ts") else good
    bad = "\n" + good.replace(old, new, 1) if name.endswith(".ts") else good[::-1].replace(old[::-1], new[::-1], 1)[::-1]
    servers = await site.warm(site.servers(**site.real), already, name)
    (problem,) = await servers.introduced([EditedText(site.path(name), already, already + "\n" + bad)])
    assert problem.code == code
    assert await servers.introduced([EditedText(site.path(name), already + "\n" + bad, already)]) == ()
