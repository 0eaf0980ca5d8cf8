"""Options that several commands share: the model, its server, the network and the system prompt."""

import argparse
from pathlib import Path

from halocline.protocol.messages import Effort
from halocline.protocol.secrets.secret import Secret
from halocline.surfaces.cli.args.parser import Parser, parse_positive, positive_int

MODEL_TEXT = "model to use, as provider/model; a bare name such as sonnet is looked up among providers with a key"
EFFORTS = ", ".join(Effort)


def add_model_options(parser: Parser) -> None:
    parser.add_argument("-m", "--model", metavar="MODEL", help=MODEL_TEXT)
    parser.add_argument("--profile", metavar="NAME", help="profile of settings.toml to use")
    add_server_options(parser)
    parser.add_argument("--effort", type=parse_effort, metavar="LEVEL", help=f"reasoning effort: {EFFORTS}")
    parser.add_argument(
        "--thinking-budget",
        type=parse_tokens,
        metavar="TOKENS",
        help="thinking tokens for one reply; overrides --effort",
    )
    parser.add_argument(
        "--text-tools", action="store_const", const=("*",), help="use text tool calls, for models without native ones"
    )


def add_system_prompt_options(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "--context-window",
        type=positive_int,
        metavar="TOKENS",
        help="the model's context window, if Halocline does not know it",
    )
    add("--system-prompt-file", type=parse_path, metavar="FILE", help="replace the system prompt with this file")
    add(
        "--append-system-prompt",
        type=parse_words,
        metavar="TEXT",
        help="append this text to the system prompt; @FILE reads it from a file",
    )


def add_server_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--base-url", metavar="URL", help="address of the model's server")
    add("--api-key", type=Secret, metavar="KEY", help="API key to use (visible to other users of this machine)")


def add_network_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--proxy", metavar="URL", help="proxy for reaching the model, or none")
    add("--ca-file", metavar="FILE", help="additional certificates (PEM) to trust")
    add("--connect-timeout", type=parse_positive, metavar="SECONDS", help="timeout for connecting")
    add("--first-byte-timeout", type=parse_positive, metavar="SECONDS", help="timeout for a reply to begin")
    add("--stall-timeout", type=parse_positive, metavar="SECONDS", help="timeout between two pieces of a reply")


def parse_effort(text: str) -> Effort:
    if text not in tuple(Effort):
        raise argparse.ArgumentTypeError(f"{text!r} is not one of: {EFFORTS}")
    return Effort(text)


def parse_path(text: str) -> str:
    return str(Path(text).expanduser().absolute())


def parse_words(text: str) -> str:
    return f"@{parse_path(text[1:])}" if text.startswith("@") else text


def parse_tokens(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a token count")
    return int(text)
