"""Find the place of an edit in a text: strategies from strict to lenient, or the reason why no place is certain."""
