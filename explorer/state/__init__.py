"""Hold what a person has chosen, as frozen values: undo, sessions and commands follow from that."""
