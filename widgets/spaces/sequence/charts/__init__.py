"""Draw charts of gates, gradients, phases and warps."""
