from halocline.edits.edit import Edit
from halocline.edits.matching.nearest import find_conflicts

VIEW = "def one():\n    return 1\n\n\ndef two():\n    wait = 2\n    return wait\n"


def test_an_edit_without_a_place_shows_the_nearest_lines_with_some_around():
    good = Edit(1, ("    return 1",), ("    return 10",))
    missed = Edit(2, ("def two():", "    wait = 3", "    return wait"), ("def two():", "    wait = 4"))
    (found,) = find_conflicts(VIEW, [good, missed])
    assert (found.name, found.first) == ("Block 2", 3)
    assert found.there == ("", "", "def two():", "    wait = 2", "    return wait")
    assert (found.search, found.replace) == (missed.search, missed.replace)
    assert found.why == "its search text is not in the file"


def test_an_edit_that_is_like_nothing_shows_no_lines():
    (found,) = find_conflicts(VIEW, [Edit(1, ("completely other words",), ())])
    assert (found.first, found.there) == (0, ())
