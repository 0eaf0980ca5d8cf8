"""The rules, hooks and notes of a task's folders."""
