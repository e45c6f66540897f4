"""Train and judge networks on images: classifiers, autoencoders, a small DALL-E."""
