"""Judge what was measured, and say it in plain sentences."""
