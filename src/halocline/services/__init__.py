"""What people administer: models, servers, rules, settings, tasks, storage."""
