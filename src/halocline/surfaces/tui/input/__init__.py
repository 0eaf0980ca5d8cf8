"""What a person types in an opened task of the board."""
