"""One store of checkpoints: a bare git repository of ours."""
