"""Find by trial what a network does to channels, to precision and from call to call."""
