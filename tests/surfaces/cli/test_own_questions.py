from tests.tables import for_each

from halocline.surfaces.terminal.asking.menu import ESCAPE, Kind, find_option, number_options

YES_NO = {**number_options(("Restore the files", "Keep them"), is_yes_no=True), ESCAPE: "back"}
THREE = {**number_options(("Both", "Only the files", "Cancel")), ESCAPE: "back"}
QUESTION = {**number_options(("SQLite", "JSON", "Stop")), "t": "type another answer", ESCAPE: "stop"}
NAMED = [
    *((YES_NO, text, "y") for text in ("y", "Y", "yes", " YES ", "1", "restore the files")),
    *((YES_NO, text, "n") for text in ("n", "no", "No", "2", "keep them")),
    *((THREE, text, "2") for text in ("2", "only the files", "Only The Files")),
    *((THREE, text, ESCAPE) for text in ("esc", "Escape")),
    *((YES_NO, text, None) for text in ("yes please", "yep", "", "0", "4", "²", "do it")),
    *((THREE, text, None) for text in ("yes", "y", "the files")),
]


@for_each("options, text, key", NAMED)
def test_a_typed_line_names_an_option_by_its_key_number_label_or_yes_no_and_esc(
    options: dict[str, str], text: str, key: str | None
) -> None:
    assert find_option(text, options) == key


@for_each(
    "text, key", [("2", "2"), ("json", "2"), ("stop", "3"), *((text, None) for text in ("4", "5", "t", "yes", "\x1b"))]
)
def test_a_line_for_a_question_of_the_model_names_only_one_of_its_options(text: str, key: str | None) -> None:
    assert find_option(text, QUESTION, Kind.QUESTION) == key
