from halocline.client import SnapshotPoint
from halocline.surfaces.slash.rewind import label_points


def test_equal_prompts_of_one_minute_can_be_told_apart() -> None:
    points = [SnapshotPoint(seq, 1_795_000_000.0, "prompt", "go on") for seq in (30, 20, 10)]
    labels = label_points(points)
    assert [point.seq for point in labels.values()] == [30, 20, 10]
    assert [label.count("(earlier)") for label in labels] == [0, 1, 2]
