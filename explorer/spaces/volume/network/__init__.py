"""Say what networks on volumes take, and of what the tensors inside of them are fields."""
