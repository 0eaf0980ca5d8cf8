"""Skills, agents, commands, notes and mentions that a person writes."""
