"""Language servers: found on this machine, started when one of their files is read, asked what an edit broke."""
