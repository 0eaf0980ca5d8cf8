"""The known language servers, as data: for each language, the first installed one is used.

`runs_project` marks servers that run code of the project (build scripts, macros, plugins) just to analyze it; they
start only where the project's programs may run. When in doubt, it is set.
"""

from pathlib import Path

from halocline.protocol.values import JsonObject, Value

PYTHON = {".py": "python", ".pyi": "python"}
TYPESCRIPT = {
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "typescriptreact",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascriptreact",
}
C = {
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
}


class Row(Value, frozen=True):
    """A server: its languages by file suffix, its command, the files that mark a project's root.

    `settings` answers `workspace/configuration`, `options` goes with `initialize`. With `needs_marker`, the server is
    not used without a marker: its answers would be wrong. `library` is a file below some node_modules that the server
    runs; it goes to `options` as `tsserver.path`. `packages` is the key in `settings` for the folders of the project's
    own packages, which are read, never run. If a server sends nothing for `silence` seconds after a change, its
    diagnostics have not changed.
    """

    name: str
    languages: dict[str, str]
    command: tuple[str, ...]
    markers: tuple[str, ...] = ()
    settings: JsonObject = {}
    options: JsonObject = {}
    needs_marker: bool = False
    runs_project: bool = False
    library: str = ""
    packages: tuple[str, ...] = ()
    silence: float = 3.0


_PYTHON_MARKERS = ("pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
_OPEN_FILES: JsonObject = {"diagnosticMode": "openFilesOnly"}

ROWS = (
    Row(
        "basedpyright",
        PYTHON,
        ("basedpyright-langserver", "--stdio"),
        _PYTHON_MARKERS,
        # Its default reports as errors what plain pyright and most projects ignore.
        {"basedpyright": {"analysis": {**_OPEN_FILES, "typeCheckingMode": "standard"}}},
        packages=("basedpyright", "analysis", "extraPaths"),
    ),
    Row(
        "pyright",
        PYTHON,
        ("pyright-langserver", "--stdio"),
        _PYTHON_MARKERS,
        {"python": {"analysis": _OPEN_FILES}},
        packages=("python", "analysis", "extraPaths"),
    ),
    Row("ty", PYTHON, ("ty", "server"), ("ty.toml", *_PYTHON_MARKERS)),
    Row("pylsp", PYTHON, ("pylsp",), _PYTHON_MARKERS, runs_project=True),
    Row("ruff", PYTHON, ("ruff", "server"), ("ruff.toml", ".ruff.toml", *_PYTHON_MARKERS)),
    Row(
        "typescript-language-server",
        TYPESCRIPT,
        ("typescript-language-server", "--stdio"),
        ("tsconfig.json", "jsconfig.json", "package.json"),
        options={"disableAutomaticTypingAcquisition": True},
        library="typescript/lib/tsserver.js",
        silence=1.0,  # it never repeats diagnostics
    ),
    Row("gopls", {".go": "go"}, ("gopls",), ("go.work", "go.mod")),
    Row("rust-analyzer", {".rs": "rust"}, ("rust-analyzer",), ("Cargo.toml",), needs_marker=True, runs_project=True),
    Row("clangd", C, ("clangd",), ("compile_commands.json", "compile_flags.txt", ".clangd"), needs_marker=True),
    Row("bash-language-server", {".sh": "shellscript", ".bash": "shellscript"}, ("bash-language-server", "start")),
    Row("lua-language-server", {".lua": "lua"}, ("lua-language-server",), (".luarc.json",), runs_project=True),
    Row("zls", {".zig": "zig"}, ("zls",), ("build.zig",), runs_project=True),
)


def rows_for(path: Path) -> tuple[Row, ...]:
    """The servers for a file of that name, best first."""
    ending = path.suffix.lower()
    return tuple(row for row in ROWS if ending in row.languages)
