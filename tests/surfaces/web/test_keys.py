from halocline.surfaces.web.keys import CODES, SHORT_LIVED, TRIES, Keys


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def wrong_for(code: str) -> str:
    return f"{(int(code) + 1) % 10**6:06}"


def test_a_key_is_exchanged_for_a_session_of_its_own_each_time() -> None:
    keys = Keys()
    first, second = keys.exchange(keys.key), keys.exchange(f" {keys.key}\n")
    assert first
    assert second
    assert len({first.cookie, first.page_key, second.cookie, second.page_key, keys.key}) == 5
    assert keys.knows(first.cookie, first.page_key)


def test_a_session_is_known_by_both_of_its_parts_alone() -> None:
    keys = Keys()
    first, second = keys.exchange(keys.key), keys.exchange(keys.key)
    assert first
    assert second
    parts = ("", "none", keys.key, first.cookie, first.page_key, second.cookie, second.page_key)
    good = [(cookie, key) for cookie in parts for key in parts if keys.knows(cookie, key)]
    assert good == [(first.cookie, first.page_key), (second.cookie, second.page_key)]


def test_no_code_is_taken_where_nobody_is_paired() -> None:
    keys = Keys()
    assert not keys.pairs
    assert keys.exchange("") is None
    assert keys.exchange("000000") is None


def test_a_short_lived_key_holds_once_and_not_for_long() -> None:
    clock = Clock()
    keys = Keys(clock=clock)
    used, late = keys.short_lived(), keys.short_lived()
    assert keys.exchange(used)
    assert keys.exchange(used) is None
    clock.now = SHORT_LIVED + 1
    assert keys.exchange(late) is None


def test_a_code_holds_for_one_machine_and_few_wrong_tries() -> None:
    codes: list[str] = []
    keys = Keys(codes.append)
    keys.invite()
    for _ in range(TRIES - 1):
        assert keys.exchange(wrong_for(codes[-1])) is None
    assert keys.exchange(f"{codes[-1][:3]} {codes[-1][3:]}")
    assert len(codes) == 2
    for _ in range(TRIES):
        assert keys.exchange(wrong_for(codes[1])) is None
    assert keys.exchange(codes[1]) is None
    assert len(codes) == 3


def test_after_too_many_wrong_codes_nobody_is_paired_but_the_key_opens() -> None:
    codes: list[str] = []
    keys = Keys(codes.append)
    keys.invite()
    for _ in range(CODES * TRIES):
        keys.exchange(wrong_for(codes[-1]))
    assert codes[-1] == ""
    assert not keys.pairs
    assert keys.exchange(codes[-2]) is None
    assert keys.exchange(keys.key)


def test_what_is_no_code_at_all_costs_no_try() -> None:
    codes: list[str] = []
    keys = Keys(codes.append)
    keys.invite()
    for _ in range(50):
        assert keys.exchange("an old key") is None
    assert len(codes) == 1
