"""The rows of a transcript, which all surfaces draw: events are folded into them."""
