"""Administration: models, servers, rules, settings, tasks, storage."""
