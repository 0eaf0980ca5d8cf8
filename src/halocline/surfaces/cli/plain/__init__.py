"""The front end without a screen: rows and questions as plain lines, and output for programs."""
