"""Where rooms meet. Only `assembly` names concrete classes."""
