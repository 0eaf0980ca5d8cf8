from halocline.services.commits import propose_message


def test_a_message_begins_with_the_title_and_goes_on_with_how_the_result_begins():
    result = "The helper waits longer each time, with a part that is random.\n- and a list\n\nRun the tests."
    assert propose_message("make the  retry helper wait.", result) == (
        "Make the retry helper wait\n\nThe helper waits longer each time, with a part that is random.\n- and a list"
    )


def test_a_long_title_is_cut_at_a_word_and_an_empty_one_is_replaced():
    assert propose_message("word " * 40, "") == " ".join(["Word", *["word"] * 12]) + "…"
    assert propose_message("", "") == "Changes"
