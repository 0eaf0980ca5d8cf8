"""Programs that print their version with one word alone, and do not download themselves first."""

_BY_WORDS = {
    "--version -V": "python python3 deno cargo rustc rustup pip pip3 uv poetry grep ruff mypy rg fd jq curl wget psql",
    "--version -v": "node npm bun ruby php perl make docker nvim",
    "version": "go",
    "--version -version": "java javac sqlite3",
    "--version": "gcc g++ clang cmake ninja sort sed ls bash vim tree gh",
    "--version version": "git",
    "-V": "tmux",
    "-version": "ffmpeg",
}
PRINTS_VERSION = {name: words.split() for words, names in _BY_WORDS.items() for name in names.split()}
"""The words with which each of them does so."""
