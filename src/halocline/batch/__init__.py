"""Many tasks, unattended: a queue that is a log, places to work in, acceptance, and a report.

What must stay true: an item whose end is in the log never runs again, and one that began continues its own task.
"""
