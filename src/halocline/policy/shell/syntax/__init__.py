"""The syntax of shell commands: text → words → tree → text. Pure; what is not fully understood raises."""
