"""Secret values, and redaction of secrets in text."""
