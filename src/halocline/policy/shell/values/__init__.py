"""The values of words: what the shell would expand them to, and in which folder. Unknown parts stay marked."""
