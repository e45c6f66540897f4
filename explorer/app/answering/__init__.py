"""Answer states: networks and samples that are loaded, and the experiments on them."""
