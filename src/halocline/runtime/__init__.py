"""Everything a live task needs: assembly, models, prompts, rules, sub-agents, history, and attached processes."""
