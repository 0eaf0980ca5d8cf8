"""Pages, searches and sign-ins over HTTP."""
