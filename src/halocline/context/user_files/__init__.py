"""Skills, agents, commands, notes and mentions that the user writes."""
