import codecs
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from tests.tables import for_each

from halocline.edits.text import BinaryContent, NotEncodable, Offsets, TextFile, decode_text, encode_text, lines_of


@given(st.binary())
def test_any_bytes_that_decode_encode_to_themselves(data: bytes):
    data = data.replace(b"\0", b"")
    try:
        file = decode_text(data)
    except BinaryContent:
        return
    assert encode_text(file) == data


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        ("grün\n".encode(), "utf-8", "grün\n"),
        (codecs.BOM_UTF8 + b"a", "utf-8", "a"),
        (codecs.BOM_UTF16_LE + "aβ\n".encode("utf-16-le"), "utf-16-le", "aβ\n"),
        (codecs.BOM_UTF16_BE + "aβ\n".encode("utf-16-be"), "utf-16-be", "aβ\n"),
        (codecs.BOM_UTF32_LE + "aβ\n".encode("utf-32-le"), "utf-32-le", "aβ\n"),
        ("a = β\n".encode("utf-16-le"), "utf-16-le", "a = β\n"),
        ("日本語の行\n".encode("utf-16-be"), "utf-16-be", "日本語の行\n"),
        ("only ascii".encode("utf-16-be"), "utf-16-be", "only ascii"),
        ("日本語の行\n".encode("utf-32-be"), "utf-32-be", "日本語の行\n"),
        (b"caf\xe9 \x93ok\x94", "cp1252", "café “ok”"),
        (b"\xe9\x81", "latin-1", "é\x81"),
    ],
)
def test_the_encoding_is_recognised(data: bytes, encoding: str, text: str):
    file = decode_text(data)
    assert (file.encoding, file.text) == (encoding, text)
    assert encode_text(file) == data


@pytest.mark.parametrize("data", [b"\x7fELF\0\0", b"a\0b", b"abc\0", b"one\0two\0ab\0", b"a\0\0\n"])
def test_nul_that_is_no_part_of_wide_characters_makes_content_binary(data: bytes):
    with pytest.raises(BinaryContent, match="binary data"):
        decode_text(data)


def test_a_character_the_encoding_lacks_is_named():
    with pytest.raises(NotEncodable, match=r"cp1252.*'→'.*U\+2192"):
        encode_text(TextFile("→", "cp1252"))


@pytest.mark.parametrize(
    ("text", "eol"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\nb\n", "\n"),
        ("a\r\nb\r\n", "\r\n"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("a\r\nb\nc", "\n"),
        ("a\rb", "\n"),
    ],
)
def test_the_line_ending_of_most_lines_is_the_file_s(text: str, eol: str):
    assert TextFile(text).eol == eol


def test_new_content_takes_the_endings_and_the_mark_of_the_file():
    file = decode_text(codecs.BOM_UTF8 + b"a\r\n")
    assert encode_text(file.with_view("b\nc\n")) == codecs.BOM_UTF8 + b"b\r\nc\r\n"


def test_a_byte_order_mark_is_never_doubled():
    file = decode_text(codecs.BOM_UTF8 + b"a\n")
    assert encode_text(file.with_view("\ufeffb\n")) == codecs.BOM_UTF8 + b"b\n"


@given(st.text(alphabet="ab\r\n"))
def test_positions_in_the_view_lead_back_to_the_text(text: str):
    file, offsets = TextFile(text), Offsets(text)
    starts = [offsets.original(i) for i in range(len(file.view) + 1)]
    pieces = [text[a:b] for a, b in pairwise(starts)]
    assert "".join(pieces) == text
    assert all(piece in (char, "\r\n") for piece, char in zip(pieces, file.view, strict=True))


@pytest.mark.parametrize(("view", "lines"), [("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\n\n", ["a", ""])])
def test_a_final_newline_adds_no_line(view: str, lines: list[str]):
    assert lines_of(view) == lines


RUSSIAN, GREEK = "Настройки сервера и проверка кодировки\n", "Καλημέρα κόσμε, αυτό είναι ένα αρχείο ρυθμίσεων\n"
JAPANESE, EMPTY = "これは日本語のコメントです。設定\n", "abc\n"
TOLD = {
    "cp932": JAPANESE,
    "euc_jp": JAPANESE,
    "gbk": "这是一个测试配置文件，用于检查编码\n",
    "big5": "這是一個測試設定檔案，用於檢查編碼\n",
    "euc_kr": "이것은 인코딩을 확인하는 테스트 파일입니다\n",
    "cp1251": RUSSIAN,
    "koi8_r": RUSSIAN,
    "koi8_u": "Налаштування сервера і перевірка кодування\n",
    "cp866": RUSSIAN,
    "iso8859_5": RUSSIAN,
    "cp1252": "Größe, déjà vu: l’été «Noël»\n",
}
UNSURE = [
    ("Größe\nplain\n", "cp850"),
    ("ä\n", "cp850"),
    ("příliš\n", "cp1250"),
    ("był\n", "cp1250"),
    ("škoda\n", "iso8859_2"),
    ("Äpfel für 10 €, größer\n", "iso8859_15"),
    ("für déjà\n", "mac_roman"),
    ("値\n", "cp932"),
    ("# a line of ASCII\n" * 3_000 + "# Привет, мир\n", "cp1251"),
    ("Привет, мир\n", "cp1251"),
    ("ОШИБКА ЧТЕНИЯ ФАЙЛА\n", "cp1251"),
    ("ОШИБКА ЧТЕНИЯ ФАЙЛА\n", "koi8_r"),
    ("да\n", "cp1251"),
    (GREEK, "cp1253"),
    (GREEK, "iso8859_7"),
    ("שלום עולם\n", "cp1255"),
    ("مرحبا بالعالم\n", "cp1256"),
    ("สวัสดีชาวโลก\n", "cp874"),
    ("zażółć gęślą jaźń\n", "cp1250"),
    ("ayarları değiştirildi, şifre\n", "cp1254"),
    ("設定変更\n", "euc_jp"),
    ("名称\n", "gbk"),
    ("한국어\n", "euc_kr"),
    ("가\n", "euc_kr"),
    ("中\n", "big5"),
]


@pytest.mark.parametrize("encoding", TOLD)
def test_an_encoding_that_the_text_shows_is_told_and_gets_its_own_characters(encoding):
    data = (TOLD[encoding] + EMPTY).encode(encoding)
    file = decode_text(data)
    assert (file.encoding, file.text, encode_text(file)) == (encoding, TOLD[encoding] + EMPTY, data)
    assert encode_text(file.with_view(file.view + TOLD[encoding])) == data + TOLD[encoding].encode(encoding)
    with pytest.raises(NotEncodable, match="which lacks '🐈'"):
        encode_text(file.with_view(file.view + "🐈"))


@for_each("words, encoding", UNSURE)
def test_a_file_whose_encoding_is_uncertain_gets_no_characters_of_another(words, encoding):
    data = (words + EMPTY).encode(encoding)
    file = decode_text(data)
    assert encode_text(file) == data
    assert encode_text(file.with_view(file.view.replace("abc", "abcd"))) == data.replace(b"abc", b"abcd")
    with pytest.raises(NotEncodable, match="its encoding is uncertain"):
        encode_text(file.with_view(file.view.replace("abc", "œuvre €")))


OWN = {
    "# -*- coding: latin-1 -*-\n": ("iso8859-1", "€"),
    "#!/usr/bin/python\n# vim: set fileencoding=iso-8859-15 :\n": ("iso8859-15", "Ж"),
    '<?xml version="1.0" encoding="iso-8859-15"?>\n': ("iso8859-15", "Ж"),
    '@charset "windows-1251";\n': ("cp1251", "日"),
    '<html><head><meta charset="shift_jis">\n': ("shift_jis", "é"),
}


@pytest.mark.parametrize("begins", OWN)
@pytest.mark.parametrize("has", ["plain", "word"])
def test_an_encoding_that_a_file_declares_itself_counts(begins: str, has: str):
    encoding, lacking = OWN[begins]
    word = {"cp1251": "слово", "shift_jis": "値"}.get(encoding, "Müller")
    data = (begins + (word if has == "word" else "plain")).encode(encoding)
    file = decode_text(data)
    assert (file.encoding, encode_text(file)) == (encoding, data)
    assert encode_text(file.with_view(file.view + word)) == data + word.encode(encoding)
    with pytest.raises(NotEncodable, match="which lacks"):
        encode_text(file.with_view(file.view + lacking))


def test_japanese_in_seven_bits_is_text_and_stays_so():
    data = "これは日本語\n".encode("iso2022_jp")
    file = decode_text(data)
    assert (file.text, encode_text(file)) == ("これは日本語\n", data)
    assert encode_text(file.with_view(file.view + "さくら\n")).isascii()


@for_each(
    "declared", ["gbk", "gb18030", "big5", "euc-jp", "shift_jis", "cp949", "utf-16", "utf-16le", "utf-32", "latin-1"]
)
@for_each("text", ["é ü é\n", "中文字符测试\n", "日本語テキスト表示確認\n", "# coding: latin-1\né\n"])
def test_what_is_utf_8_is_read_so_whatever_is_declared(declared: str, text: str):
    assert decode_text(text.encode(), declared).encoding == "utf-8"


@pytest.mark.parametrize("declared", ["utf-16", "utf-16le", "utf-32"])
def test_ascii_is_not_read_as_wide_characters(declared: str):
    assert decode_text(b"hello world\n", declared).text == "hello world\n"
    assert decode_text("hello\n".encode("utf-16-le"), "utf-16le").text == "hello\n"


@pytest.mark.parametrize("text", ["größe = 1 # grün, Öl, ä", "größe … é", "日本語"])
def test_utf_8_with_a_broken_byte_gets_no_characters_of_another(text):
    file = decode_text(text.encode() + b"\xff\n")
    with pytest.raises(NotEncodable, match="its encoding is uncertain"):
        encode_text(file.with_view(file.view + "ÿ€ñ"))


@pytest.mark.parametrize("text", ["Ein schöner Tag für Käse.\n", "déjà vu, là-bas: été, Noël\n", "São João, coração\n"])
def test_western_european_text_may_get_further_letters(text):
    file = decode_text((text * 3).encode("cp1252"))
    assert encode_text(file.with_view(file.view + "œuvre €\n")).endswith("œuvre €\n".encode("cp1252"))
