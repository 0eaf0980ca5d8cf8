"""Commands about tasks as a whole: list, show, delete, fork, export, import, replay."""
