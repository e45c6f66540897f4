"""Train the shipped networks and judge them."""
