"""Reports on the contents of requests, for the user."""
