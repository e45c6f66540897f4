"""Run an engine on a thread of its own, for a window that never waits."""
