"""Choose colours, icons and alignments."""
