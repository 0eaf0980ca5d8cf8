"""A store of checkpoints: a bare git repository of our own."""
