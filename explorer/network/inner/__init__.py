"""Values that no module returns, found while a network of somebody else's runs: attention, gates, messages."""
