"""Results of queries about tasks."""
