"""What a batch shows where the price of a model is unknown: that, and never zero."""

from halocline.batch.evaluation import score_models
from halocline.batch.items import Item
from halocline.batch.queue import Ending, Outcome, Standing
from halocline.batch.report import make_report
from halocline.surfaces.cli.commands.batch.progress import describe_end
from halocline.surfaces.cli.commands.batch.scores import list_scores
from halocline.surfaces.cli.commands.batch.summary import list_summary
from halocline.surfaces.export.batch_report import write_page

UNPRICED = [Standing(Item("a", "p", model="m"), "t", outcome=Outcome(Ending.PASSED, cost=None))]


def test_a_batch_says_that_a_price_is_unknown() -> None:
    report = make_report("b", UNPRICED)
    texts = (
        "\n".join(list_summary(report)),
        "\n".join(list_scores(score_models(UNPRICED))),
        write_page(report),
        describe_end(UNPRICED[0].outcome),
    )
    for text in texts:
        assert "price unknown" in text
        assert "$0.00" not in text
