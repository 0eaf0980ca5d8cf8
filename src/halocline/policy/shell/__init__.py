"""Shell commands, taken apart and judged: parse → tree → judge → the form in which a harmless one runs."""
