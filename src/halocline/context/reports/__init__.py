"""What a request is made of, for a person who wants to know."""
