"""Tasks on disk, their index, and recordings of them."""
