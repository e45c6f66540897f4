"""Open a person's own model: look at it without running it, ask once, then show it like any other."""
