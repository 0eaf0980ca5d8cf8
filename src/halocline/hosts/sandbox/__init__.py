"""What a command may reach: the operating system holds it, whatever the policy thought of its text."""
