"""What outlives a task: settings, secrets, history, blobs."""
