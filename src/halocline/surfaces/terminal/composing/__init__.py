"""Helps to type a prompt: completion, history, pasting, mentions."""
