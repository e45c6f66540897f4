"""Share what benchmarks need: timing in turns, a process of their own, large networks."""
