"""Find by trial what a network does to channels, to rounding and from call to call."""
