"""Networks that learn codes of images, and images of codes."""
