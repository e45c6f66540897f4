"""Say what networks on the sphere take, and of what the tensors inside of them are fields."""
