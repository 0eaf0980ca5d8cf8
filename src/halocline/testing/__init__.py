"""What we ship to test against: a scripted model and a model server that speaks each wire format."""
