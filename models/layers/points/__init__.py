"""Parts that networks on points share: distances, radial bases, values of each degree and their products."""
