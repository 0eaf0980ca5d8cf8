"""Programs: tables of what each one does with its flags and words, and the code that judges by them."""
