"""Time watching, measuring and judging networks."""
