"""The choices of a command line, and the options of a task."""

from halocline.runtime.task_options import Choices as Choices, TaskOptions as TaskOptions
