"""Input: the prompt editor, keys and approvals."""
