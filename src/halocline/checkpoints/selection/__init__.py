"""The selection of files that checkpoints save."""
