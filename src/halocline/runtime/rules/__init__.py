"""The rules, hooks and memory of a task's folders."""
