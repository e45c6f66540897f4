"""Groups that networks on volumes are checked under."""
