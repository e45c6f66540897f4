"""Networks that learn what to represent: back-propagation looked at, codes of images, images of codes."""
