"""Servers that nobody here wrote: pyright, TypeScript's and ruff's own."""

import os
import sys
from pathlib import Path

import pytest
from tests.hosts.language_servers.set_up import MISSING, PROGRAMS, are_there

from halocline.ports.diagnostics import EditedText

CASES = {
    "pyright": (
        "a.py",
        'old: int = "x"\n\n\ndef f(x: int) -> int:\n    return x\n',
        '"""New."""\n\nold: int = "x"\n\n\ndef f(x: int) -> int:\n    return "no"\n',
        (7, 'return "no"', "reportReturnType"),
    ),
    "typescript": (
        "a.ts",
        'const old: number = "x";\nexport const f = (x: number): number => x;\n',
        '// New.\nconst old: number = "x";\nexport const f = (x: number): number => "no";\n',
        (3, 'export const f = (x: number): number => "no";', "2322"),
    ),
    "ruff": (
        "a.py",
        "def f(x):\n    return x\n",
        "def f(x):\n    return x)\n",
        (2, "return x)", "invalid-syntax"),
    ),
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
    name, before, after, told = real
    servers = await site.warm(site.servers(**site.real), before, name)
    (problem,) = await servers.introduced([EditedText(site.path(name), before, after)])
    assert (problem.line, problem.text, problem.code) == told
    assert await servers.introduced([EditedText(site.path(name), after, before)]) == ()


async def test_a_real_server_judges_a_new_file_and_one_that_has_no_errors_any_more(site, real):
    name, before, after, told = real
    servers = await site.warm(site.servers(**site.real), before, name)
    other = site.path(f"new{Path(name).suffix}")
    other.write_text(after)
    found = await servers.introduced([EditedText(other, None, after)])
    assert told in [(problem.line, problem.text, problem.code) for problem in found]
    assert all(problem.path == other for problem in found)
