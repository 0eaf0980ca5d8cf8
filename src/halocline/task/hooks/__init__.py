"""When hooks run, what they get and what they answer."""
