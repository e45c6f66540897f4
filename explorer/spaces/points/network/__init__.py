"""Arguments of networks on points, and the fields inside of them."""
