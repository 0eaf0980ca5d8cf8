"""Rules in files: where they are, when they apply, what they say."""
