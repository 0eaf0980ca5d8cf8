from halocline.client.history import PastPrompt
from halocline.surfaces.slash.rewind import label_prompts

AT = 1_795_000_000.0


def test_equal_prompts_of_one_minute_can_be_told_apart() -> None:
    labels = label_prompts([PastPrompt(seq, AT, "go on") for seq in (30, 20, 10)])
    assert [prompt.seq for prompt in labels.values()] == [30, 20, 10]
    assert [label.count("(earlier)") for label in labels] == [0, 1, 2]


def test_a_prompt_that_was_rewound_away_is_marked() -> None:
    labels = label_prompts([PastPrompt(20, AT, "two", is_current=False), PastPrompt(10, AT, "one")])
    assert [label.endswith("· rewound") for label in labels] == [True, False]
