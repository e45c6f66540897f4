"""Choose models and samples."""
