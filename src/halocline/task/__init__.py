"""One conversation: the loop, its log, its inbox."""
