"""A llama model of 0.2 million random weights as a GGUF file, for judging a client: what it says is nonsense, how a
server says it is real.

The same bytes on every machine. Every byte is a token, so any text can be read and any grammar be followed; words,
and characters outside ASCII both whole and in halves, are further tokens, and are what it likes to say. Format: GGUF
version 3, of llama.cpp.
"""

import math
import random
import struct
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path

WIDTH, HEADS, FEED, LAYERS, CONTEXT = 64, 4, 128, 2, 32_768
SEED = 20261121

WORDS = """the a file test line code run read write change is was not and or to of in it we you fix bug value name
 path list call result error now then here there new old first last true false none zero one two three done look
 at with from for this that should will can so as by on tide salt water layer sharp slow deep"""
FURTHER = ("ü", "ß", "é", "→", "…", "日本", "語", "🌊", "🧂", "\n", "\n\n", " ", ". ", ", ", "# ", "`", "- ")
CALL = b"<tool_call>\n"
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")

TEMPLATE = """\
{%- if tools %}{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- 'Tools:' }}{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '\\nCall one so:\\n<tool_call>\\n{"name": <name>, "arguments": <arguments>}\\n</tool_call><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}{{- '<|im_start|>assistant' }}
{%- if message.content %}{{- '\\n' + message.content }}{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments | tojson }}{{- '}\\n</tool_call>' }}{%- endfor %}{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- endif %}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""

_NORMAL, _CONTROL = 1, 3
_FLOAT32 = 0
_UINT32, _INT32, _FLOAT, _STRING, _ARRAY = 4, 5, 6, 8, 9
_ALIGNMENT = 32


def byte_names() -> dict[int, str]:
    """How GPT-2's tokenizers write each byte: as itself where it can be seen, else as a character from 256 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + at) for at, byte in enumerate(unseen)}


def vocabulary() -> list[bytes]:
    """What each token says: the 256 bytes, words with a space before them, and characters cut within."""
    whole = [text.encode() for text in (*(f" {word}" for word in WORDS.split()), *FURTHER)]
    halves = [piece for text in ("🌊", "語", "ü") for piece in (text.encode()[:-1], text.encode()[1:])]
    return [bytes([byte]) for byte in range(256)] + [CALL, *(piece for piece in (*whole, *halves) if len(piece) > 1)]


def tensors(tokens: list[bytes]) -> Iterator[tuple[str, tuple[int, ...], array]]:
    """Name, shape (the inner dimension first) and weights of every tensor."""
    chance = random.Random(SEED)
    size = len(tokens) + len(CONTROL)

    def drawn(rows: int, columns: int, spread: float) -> array:
        return array("f", (chance.gauss(0.0, spread) for _ in range(rows * columns)))

    def plain(columns: int) -> array:
        return array("f", [1.0]) * columns

    yield "token_embd.weight", (WIDTH, size), drawn(size, WIDTH, 1.0)
    for layer in range(LAYERS):
        block, inner = f"blk.{layer}.", 1 / math.sqrt(WIDTH)
        yield block + "attn_norm.weight", (WIDTH,), plain(WIDTH)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"{block}{name}.weight", (WIDTH, WIDTH), drawn(WIDTH, WIDTH, inner)
        yield block + "ffn_norm.weight", (WIDTH,), plain(WIDTH)
        yield block + "ffn_gate.weight", (WIDTH, FEED), drawn(FEED, WIDTH, inner)
        yield block + "ffn_up.weight", (WIDTH, FEED), drawn(FEED, WIDTH, inner)
        yield block + "ffn_down.weight", (FEED, WIDTH), drawn(WIDTH, FEED, 1 / math.sqrt(FEED))
    yield "output_norm.weight", (WIDTH,), plain(WIDTH)
    likings = [_liking(token) for token in tokens] + [0.0] * len(CONTROL)
    rows = (chance.gauss(0.0, liking / math.sqrt(WIDTH)) for liking in likings for _ in range(WIDTH))
    yield "output.weight", (WIDTH, size), array("f", rows)


def _liking(token: bytes) -> float:
    """How far the weights may favour a token: single bytes only where a grammar asks for them."""
    return 3.0 if len(token) > 1 else 0.3


def facts(tokens: list[bytes]) -> Iterator[bytes]:
    """The key-value pairs."""
    names = byte_names()
    written = ["".join(names[byte] for byte in token) for token in tokens] + list(CONTROL)
    kinds = [_NORMAL] * len(tokens) + [_CONTROL] * len(CONTROL)
    end = len(written) - 1
    for key, text in {
        "general.architecture": "llama",
        "general.name": "halocline-nonsense",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "default",
        "tokenizer.chat_template": TEMPLATE,
    }.items():
        yield _text(key) + struct.pack("<I", _STRING) + _text(text)
    for key, number in {
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": FEED,
        "llama.block_count": LAYERS,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS,
        "llama.rope.dimension_count": WIDTH // HEADS,
        "llama.vocab_size": len(written),
        "tokenizer.ggml.bos_token_id": len(tokens),
        "tokenizer.ggml.eos_token_id": end,
        "general.alignment": _ALIGNMENT,
    }.items():
        yield _text(key) + struct.pack("<II", _UINT32, number)
    yield _text("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", _FLOAT, 1e-5)
    yield _listed("tokenizer.ggml.tokens", _STRING, [_text(name) for name in written])
    yield _listed("tokenizer.ggml.token_type", _INT32, [struct.pack("<i", kind) for kind in kinds])
    yield _listed("tokenizer.ggml.merges", _STRING, [_text("Ġ t")])


def write_model(path: Path) -> None:
    """Write the model's file."""
    tokens = vocabulary()
    pairs = list(facts(tokens))
    weights = list(tensors(tokens))
    with open(path, "wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, len(weights), len(pairs)) + b"".join(pairs))
        offset = 0
        for name, shape, values in weights:
            dimensions = struct.pack(f"<{len(shape)}Q", *shape)
            file.write(_text(name) + struct.pack("<I", len(shape)) + dimensions)
            file.write(struct.pack("<IQ", _FLOAT32, offset))
            offset += len(values) * 4 + -(len(values) * 4) % _ALIGNMENT
        for *_, values in weights:
            file.write(b"\0" * (-file.tell() % _ALIGNMENT))
            file.write(_little(values))


def _little(values: array) -> bytes:
    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _listed(key: str, kind: int, items: list[bytes]) -> bytes:
    return _text(key) + struct.pack("<IIQ", _ARRAY, kind, len(items)) + b"".join(items)


if __name__ == "__main__":
    write_model(Path(sys.argv[1]))
