"""Share what several generative adversarial networks are made of."""
