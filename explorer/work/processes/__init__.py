"""Start processes of this program, and prepare them for what they run."""
