"""Short notes to the model beside a prompt or a request."""
