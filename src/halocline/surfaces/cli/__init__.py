"""The command line: line mode on a terminal, text and JSON without one."""
