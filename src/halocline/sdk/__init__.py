"""Halocline in a program: `import halocline` hands on what is public here (`face`).

What must stay true: there is no second way to run a task. All of this sends commands and reads events by `client`.
"""
