"""Commands on this machine, and the processes they leave running."""
