"""Field types: what a tensor is a field of, over what, and how that is written."""
