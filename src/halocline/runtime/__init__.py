"""What a live task needs: its assembly, its models, prompts, rules, sub-agents, history, and who is attached to it."""
