"""Rules that lie in files: where they are, when they hold, what they say."""
