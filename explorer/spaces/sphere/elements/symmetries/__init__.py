"""Groups that networks on the sphere are checked under."""
