"""What the model is told before a request: files, jobs and lists that changed."""
