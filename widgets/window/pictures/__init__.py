"""Save pictures of the window and its views without a person."""
