"""How files were before."""
