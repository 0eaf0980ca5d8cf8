from tests.tables import for_each

from halocline.surfaces.terminal.asking.menu import ESCAPE, find_option, number_options

YES_NO = {**number_options(("Restore the files", "Keep them"), is_yes_no=True), ESCAPE: "back"}
THREE = {**number_options(("Both", "Only the files", "Cancel")), ESCAPE: "back"}
NAMED = [
    *((YES_NO, text, "y") for text in ("y", "Y", "yes", " YES ", "1", "restore the files")),
    *((YES_NO, text, "n") for text in ("n", "no", "No", "2", "keep them")),
    *((THREE, text, "2") for text in ("2", "only the files", "Only The Files")),
    *((YES_NO, text, None) for text in ("yes please", "yep", "", "0", "4", "²", "do it")),
    *((THREE, text, None) for text in ("yes", "y", "the files")),
]


@for_each("options, text, key", NAMED)
def test_a_typed_line_names_an_option_by_its_key_number_label_or_yes_and_no(
    options: dict[str, str], text: str, key: str | None
) -> None:
    assert find_option(text, options) == key
