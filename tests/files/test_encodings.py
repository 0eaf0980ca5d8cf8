"""Texts that are not UTF-8: shown in what they look like, and called uncertain where they only may be that."""

import pytest

from halocline.files.encodings import decode_patch, decode_text, guess_encoding

CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy.\nŠkola má čtyři učitele a řadu žáků.\n"
POLISH = "Zażółć gęślą jaźń.\nWłaśnie dlatego książka była już zamknięta, a łódź płynęła dalej.\n"
RUSSIAN = "Привет, мир. Настройки сервера и проверка.\n"
JAPANESE = "[接続]\n名前=テスト\nこれは日本語のコメントです\n"
PARTS = {
    "cp1251": RUSSIAN,
    "shift_jis": JAPANESE,
    "utf-8": "Größe – déjà vu\n",
    "cp1252": "Größe, déjà vu, l’été à la plage, naïve façon\n",
}


def patch(text: str, encoding: str, name: str) -> bytes:
    lines = b"".join(b" %s\n" % line for line in text.encode(encoding).splitlines())
    head = f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1,3 +1,3 @@\n".encode()
    return head + lines + b"-port=80\n+port=81\n"


def test_each_file_of_a_patch_is_shown_in_its_own_encoding():
    data = b"".join(patch(text, encoding, f"ü-{encoding}.txt") for encoding, text in PARTS.items())
    wanted = "".join(patch(text, "utf-8", f"ü-{encoding}.txt").decode() for encoding, text in PARTS.items())
    assert decode_patch(data) == wanted


@pytest.mark.parametrize("cut", range(1, 4))
def test_a_patch_that_was_cut_within_a_character_is_still_utf_8(cut: int):
    text = "diff --git a/a b/a\n@@ -1 +1 @@\n+これは日本語\n これは"
    assert decode_patch(text.encode()[:-cut]) == text[:-1]
    assert decode_text(text.encode()[:-cut]) == text[:-1]


@pytest.mark.parametrize("encoding", ["iso8859_2", "cp1250"])
@pytest.mark.parametrize("text", [CZECH, POLISH], ids=["Czech", "Polish"])
def test_an_encoding_of_central_europe_is_never_surely_a_western_one(encoding: str, text: str):
    guess = guess_encoding(text.encode(encoding))
    assert guess is not None
    assert not guess.sure
