"""The rules of the gate, as people look at them and change them."""
