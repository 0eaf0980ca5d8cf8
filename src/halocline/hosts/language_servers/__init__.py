"""Language servers: found on this machine, started when a file of theirs is read, asked what an edit broke."""
