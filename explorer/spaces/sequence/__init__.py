"""Know sequences: values at the steps of time."""
