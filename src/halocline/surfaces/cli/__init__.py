"""The command line: line mode on a terminal, plain text and JSON elsewhere."""
