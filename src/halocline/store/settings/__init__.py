"""What a person set."""
