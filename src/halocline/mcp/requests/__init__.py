"""What a server asks of the task or its person."""
