"""Completion scripts for bash, zsh and fish. Each finds the level in the words so far, then offers what follows it."""

from collections.abc import Callable, Iterator, Sequence

from halocline.surfaces.cli.shell_completion.words import Kind, Level, Option

BASH = """# bash completion for halo; in ~/.bashrc: source <(halo completion bash)
_halo() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} at= index words=
    for ((index = 1; index < COMP_CWORD; index++)); do
        case "$at/${COMP_WORDS[index]}:$index" in
__FOLLOW__
        esac
    done
    COMPREPLY=()
    case "$at $previous" in
__VALUES__
    esac
    case "$current:$at" in
__OFFER__
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _halo halo
"""
ZSH = """#compdef halo
# zsh completion for halo; in ~/.zshrc: source <(halo completion zsh)
_halo() {
    local at= index
    local -a found
    for ((index = 2; index < CURRENT; index++)); do
        case "$at/${words[index]}:$((index - 1))" in
__FOLLOW__
        esac
    done
    case "$at ${words[CURRENT-1]}" in
__VALUES__
    esac
    case "${words[CURRENT]}:$at" in
__OFFER__
    esac
    (( $#found )) && _describe 'halo' found || _files
}
if [[ $funcstack[1] = _halo ]]; then _halo "$@"; else compdef _halo halo; fi
"""
FISH = """# fish completion for halo; in ~/.config/fish/config.fish: halo completion fish | source
function __halo_at
    set -l at
    set -l index 0
    for word in (commandline -opc)[2..]
        set index (math $index + 1)
        switch "$at/$word:$index"
__FOLLOW__
        end
    end
    test "$at" = "$argv[1]"
end
complete -c halo -f
__OFFER__
"""


def write_bash(levels: Sequence[Level]) -> str:
    """Return the script for bash."""
    values = {
        Kind.FILE: 'COMPREPLY=($(compgen -f -- "$current")); return',
        Kind.FOLDER: 'COMPREPLY=($(compgen -d -- "$current")); return',
        Kind.TEXT: "return",
    }

    def offer(level: Level, *, dashed: bool) -> str:
        return f"words={_quote(' '.join(word for word, _ in _list_words(level, dashed=dashed)))}"

    def choose(choices: Sequence[str]) -> str:
        return f'COMPREPLY=($(compgen -W {_quote(" ".join(choices))} -- "$current")); return'

    return _fill(BASH, levels, _case_lines(levels, values, choose), _offer_lines(levels, offer))


def write_zsh(levels: Sequence[Level]) -> str:
    """Return the script for zsh."""
    values = {Kind.FILE: "_files; return", Kind.FOLDER: "_files -/; return", Kind.TEXT: "_message value; return"}

    def offer(level: Level, *, dashed: bool) -> str:
        words = _list_words(level, dashed=dashed)
        return f"found=({' '.join(_quote(_describe(word, text)) for word, text in words)})"

    def choose(choices: Sequence[str]) -> str:
        return f"compadd -- {' '.join(map(_quote, choices))}; return"

    return _fill(ZSH, levels, _case_lines(levels, values, choose), _offer_lines(levels, offer))


def write_fish(levels: Sequence[Level]) -> str:
    """Return the script for fish."""
    follow = [
        f"        case {_quote(_follow_pattern(level))}\n            set at {_quote(level.key)}" for level in levels[1:]
    ]
    lines = [line for level in levels for line in _fish_lines(level)]
    return FISH.replace("__FOLLOW__", "\n".join(follow)).replace("__OFFER__", "\n".join(lines))


SHELLS: dict[str, Callable[[Sequence[Level]], str]] = {"bash": write_bash, "zsh": write_zsh, "fish": write_fish}


def _fill(script: str, levels: Sequence[Level], values: Sequence[str], offers: Sequence[str]) -> str:
    follow = [f"        {_pattern(level)}) at={_quote(level.key)} ;;" for level in levels[1:]]
    for place, lines in (("__FOLLOW__", follow), ("__VALUES__", values), ("__OFFER__", offers)):
        script = script.replace(place, "\n".join(lines))
    return script


def _follow_pattern(level: Level) -> str:
    """The pattern of a word that leads to a level: only the first word is a command."""
    above = "/".join(level.path[:-1])
    return f"{above}/{level.path[-1]}:{1 if len(level.path) == 1 else '*'}"


def _pattern(level: Level) -> str:
    return f'"{_follow_pattern(level).removesuffix("*")}"{"*" if len(level.path) > 1 else ""}'


def _case_lines(levels: Sequence[Level], values: dict[Kind, str], choose: Callable[[Sequence[str]], str]) -> list[str]:
    """The lines for the value of each option, after the option."""
    lines = []
    for level in levels:
        for option in level.options:
            if option.kind is not Kind.NONE:
                names = "|".join(_quote(f"{level.key} {name}") for name in option.names)
                lines.append(f"    {names}) {choose(option.choices) if option.choices else values[option.kind]} ;;")
    return lines


def _offer_lines(levels: Sequence[Level], offer: Callable[..., str]) -> list[str]:
    lines = []
    for level in levels:
        lines.append(f"    -*:{_quote(level.key)}) {offer(level, dashed=True)} ;;")
        lines.append(f"    *:{_quote(level.key)}) {offer(level, dashed=False)} ;;")
    return lines


def _list_words(level: Level, *, dashed: bool) -> Iterator[tuple[str, str]]:
    if not dashed:
        yield from level.words
        return
    for option in level.options:
        yield from ((name, option.text) for name in option.names)


def _fish_lines(level: Level) -> Iterator[str]:
    at = f"complete -c halo -n {_quote(f'__halo_at {_quote(level.key)}')}"
    for word, text in level.words:
        yield f"{at} -f -a {_quote(word)} -d {_quote(text)}"
    if not level.words:
        yield f"{at} -F"
    for option in level.options:
        names = " ".join(f"-{'l' if name.startswith('--') else 's'} {name.lstrip('-')}" for name in option.names)
        yield f"{at} {names}{_fish_value(option)} -d {_quote(option.text)}"


def _fish_value(option: Option) -> str:
    if option.choices:
        return f" -x -a {_quote(' '.join(option.choices))}"
    folders = " -x -a '(__fish_complete_directories)'"
    return {Kind.NONE: "", Kind.TEXT: " -x", Kind.FILE: " -r -F", Kind.FOLDER: folders}[option.kind]


def _describe(word: str, text: str) -> str:
    escaped = word.replace(":", "\\:")
    return f"{escaped}:{text}" if text else escaped


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
