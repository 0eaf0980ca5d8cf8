"""Answers to questions about tasks, as surfaces get them."""
