"""Draw feature maps."""
