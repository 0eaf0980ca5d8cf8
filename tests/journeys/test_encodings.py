"""Each tool in each encoding, from what the model calls to the bytes of the file: none outside the change changes."""

import codecs

import pytest
from tests.journeys.test_mentions import notes
from tests.pairings import each_with_each

from halocline.edits.diff import make_diff
from halocline.edits.text import decode_text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.history.revert import HunkReversal, revert_hunk

DONE = Turn(text="done")
CAT = "\N{CAT}"
JAPANESE, RUSSIAN = ("これは日本語のコメントです", "新しい行"), ("настройки сервера и проверка", "новая строка")
GREEK, POLISH = ("Καλημέρα κόσμε", "νέα γραμμή"), ("zażółć gęślą jaźń", "nowość")
THAI, WESTERN = ("สวัสดีชาวโลก", "บรรทัดใหม่"), ("Größe, déjà vu – l’été", "naïve œuvre €")
SHOWN = {
    "utf-8": JAPANESE,
    "utf-8-sig": JAPANESE,
    "utf-16": RUSSIAN,
    "utf-16-le": JAPANESE,
    "utf-16-be": WESTERN,
    "utf-32": GREEK,
    "cp932": JAPANESE,
    "euc_jp": JAPANESE,
    "gbk": ("这是一个测试配置文件，用于检查编码", "新的一行"),
    "big5": ("這是一個測試設定檔案，用於檢查編碼", "新的一行"),
    "euc_kr": ("이것은 인코딩을 확인하는 테스트", "새 줄"),
    "cp1251": RUSSIAN,
    "koi8_r": RUSSIAN,
    "cp1252": WESTERN,
}
DECLARED = {
    "cp1253": GREEK,
    "iso8859_7": GREEK,
    "cp1250": POLISH,
    "iso8859_2": POLISH,
    "cp874": THAI,
    "koi8_u": RUSSIAN,
    "shift_jis": JAPANESE,
    "iso2022_jp": JAPANESE,
    "utf-16-le": THAI,
}
WAYS = {
    "setting": lambda journey, name: None,
    "git": lambda journey, name: journey.write(".gitattributes", f"*.ini text\n*.txt working-tree-encoding={name}\n"),
    "editors": lambda journey, name: journey.write(".editorconfig", f"root = true\n[*.{{txt,ini}}]\ncharset={name}\n"),
}
OLD, NEW = "port = 80", "port = 80 # "
EDITS = {
    "blocks": lambda name, text, new: Call(
        "replace_in_file",
        {"path": name, "diff": f"------- SEARCH\n{OLD}\n=======\n{NEW}{new}\n+++++++ REPLACE\n"},
    ),
    "exact": lambda name, text, new: Call("replace_in_file", {"path": name, "old_text": OLD, "new_text": NEW + new}),
    "patch": lambda name, text, new: Call(
        "apply_patch", {"input": f"*** Begin Patch\n*** Update File: {name}\n@@\n-{OLD}\n+{NEW}{new}\n*** End Patch"}
    ),
    "whole": lambda name, text, new: Call("write_to_file", {"path": name, "content": text.replace(OLD, NEW + new)}),
}
"""By format: a call that adds to the line of the port. `text` is what the model read."""


def text_of(words: str) -> str:
    return f"; {words}\r\n{OLD}\r\nname = {words}\r\n"


async def edit_in_all_ways(journey, text, data, new, **settings):
    """Let each edit add `new` to a file of its own; return the bytes after it, and what the model was told."""
    for name in EDITS:
        journey.write(f"{name}.txt", data)
    calls = [call(f"{name}.txt", text.replace("\r\n", "\n"), new) for name, call in EDITS.items()]
    read = Turn(calls=(Call("read_file", {"path": "whole.txt"}),))
    await journey.run(read, *[Turn(calls=(call,)) for call in calls], DONE, **settings)
    return [(journey.workspace / f"{name}.txt").read_bytes() for name in EDITS], journey.results[1:]


async def require_everything_right(journey, encoding, words, new, **settings):
    """Check what is read, mentioned, edited in each format, refused and reverted in a file of this encoding."""
    text = text_of(words)
    data, wanted = text.encode(encoding), text.replace(OLD, NEW + new).encode(encoding)
    after, _ = await edit_in_all_ways(journey, text, data, new, **settings)
    assert after == [wanted] * len(EDITS)
    journey.write("read.txt", data)
    await journey.run(Turn(calls=(Call("read_file", {"path": "read.txt"}),)), DONE, prompt="@read.txt", **settings)
    for shown in (journey.results[0], notes(journey)[0].text):
        assert f"1 | ; {words}\n2 | {OLD}" in shown
        assert encoding.startswith("utf-8") or "encoding " in shown
    after, told = await edit_in_all_ways(journey, text, data, CAT, **settings)
    if encoding.startswith("utf"):
        assert after == [text.replace(OLD, NEW + CAT).encode(encoding)] * len(EDITS)
    else:
        assert after == [data] * len(EDITS)
        assert all("lacks '\N{CAT}'" in one and "convert the whole file" in one for one in told)


@pytest.mark.parametrize("encoding", SHOWN)
async def test_text_that_shows_its_encoding_is_edited_in_it(journey, encoding):
    words, new = SHOWN[encoding]
    await require_everything_right(journey, encoding, words, new)
    text, place = text_of(words), journey.workspace / "reverted.txt"
    place.write_bytes(text.replace(OLD, NEW + new).encode(encoding))
    diff = make_diff(place.name, text, decode_text(place.read_bytes()).text).text
    await revert_hunk(journey.workspace, HunkReversal(place.name, diff))
    assert place.read_bytes() == text.encode(encoding)
    await revert_hunk(journey.workspace, HunkReversal(place.name, diff, back=False))
    assert place.read_bytes() == text.replace(OLD, NEW + new).encode(encoding)


@pytest.mark.parametrize(("encoding", "way"), each_with_each(list(DECLARED), list(WAYS)))
async def test_a_declared_encoding_is_the_one(journey, encoding, way):
    WAYS[way](journey, encoding)
    chosen = {"*.txt": encoding} if way == "setting" else {"*.ini": "cp037"}
    await require_everything_right(journey, encoding, *DECLARED[encoding], encodings=chosen)
    empty, _ = await edit_in_all_ways(journey, "", OLD.encode(encoding), DECLARED[encoding][1], encodings=chosen)
    assert empty[:3] == [(NEW + DECLARED[encoding][1]).encode(encoding)] * 3


UNCERTAIN = {
    "cp1253": GREEK[0],
    "cp1250": POLISH[0],
    "cp874": THAI[0],
    "cp1251": "ОШИБКА ЧТЕНИЯ",
    "gbk": "名称",
    "cp932": "ﾃｽﾄ",
    "euc_kr": "서버",
    "big5": "檔",
}


@pytest.mark.parametrize(("encoding", "new"), each_with_each(list(UNCERTAIN), ["ü", "é", "©", "·", "я", "行", "€"]))
async def test_a_file_of_an_uncertain_encoding_gets_no_character_of_another(journey, encoding, new):
    words = UNCERTAIN[encoding]
    data = text_of(words).encode(encoding)
    file = decode_text(data)
    after, told = await edit_in_all_ways(journey, file.text, data, new)
    assert after == [data] * len(EDITS)
    assert all("its encoding is uncertain" in one for one in told)
    await journey.run(Turn(calls=(Call("read_file", {"path": "whole.txt"}),)), DONE)
    assert "; encoding uncertain, shown as " in journey.results[0]
    after, _ = await edit_in_all_ways(journey, file.text, data, "ascii")
    assert after == [data.replace(OLD.encode(), f"{NEW}ascii".encode())] * len(EDITS)


@pytest.mark.parametrize(
    ("declared", "made"),
    [
        ("utf-8-bom", codecs.BOM_UTF8 + "grün\n".encode()),
        ("latin1", "grün\n".encode("latin-1")),
        ("utf-16le", "grün\n".encode("utf-16-le")),
        ("UTF-16", "\ufeffgrün\n".encode("utf-16-le")),
        ("nonsense", "grün\n".encode()),
        ("rot13", "grün\n".encode()),
        ("unset", "grün\n".encode()),
    ],
)
async def test_a_new_file_is_in_the_declared_encoding(journey, declared, made):
    journey.write(".editorconfig", f"[*]\ncharset = {declared}\n")
    add = Call("apply_patch", {"input": "*** Begin Patch\n*** Add File: b\n+grün\n*** End Patch"})
    await journey.run(Turn(calls=(Call("write_to_file", {"path": "a", "content": "grün\n"}), add)), DONE)
    assert [(journey.workspace / name).read_bytes() for name in "ab"] == [made, made]
    await journey.run(Turn(calls=(Call("read_file", {"path": "a"}),)), DONE)
    assert "1 | grün\n" in journey.results[0]


async def test_the_nearest_declaration_counts_and_bytes_that_do_not_fit_it_are_told_by_their_look(journey):
    journey.write(".editorconfig", "[*.txt]\ncharset = cp1253\n[sub/**.txt]\ncharset = koi8_r\n")
    journey.write("deep/.editorconfig", "[*]\ncharset = cp866\n")
    journey.write("rooted/.editorconfig", "root = true\n")
    for name, encoding in (("a", "cp1253"), ("sub/a", "koi8_r"), ("deep/x/a", "cp866")):
        journey.write(f"{name}.txt", text_of("βγ" if encoding == "cp1253" else "яд").encode(encoding))
    journey.write("utf8.txt", text_of("grün").encode())
    journey.write("rooted/a.txt", text_of("grün").encode("cp1252"))
    names = ("a", "sub/a", "deep/x/a", "utf8", "rooted/a")
    calls = tuple(Call("read_file", {"path": f"{name}.txt"}) for name in names)
    await journey.run(Turn(calls=calls), DONE)
    assert [said.split("\n")[0] for said in journey.results] == [
        f"1 | ; {w}" for w in ("βγ", "яд", "яд", "grün", "grün")
    ]
