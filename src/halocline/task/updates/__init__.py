"""Context updates before a request: files, jobs and lists that changed."""
