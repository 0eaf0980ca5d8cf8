"""Looking up what a prompt mentions by `@`."""
