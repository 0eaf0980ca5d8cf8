"""The tables of programs that only read, by what they do; `read_only` puts them together."""
