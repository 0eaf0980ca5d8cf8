"""Everything on disk that outlives a task: settings, secrets, history, blobs."""
