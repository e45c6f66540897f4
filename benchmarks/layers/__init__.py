"""Time layers and networks beside their peers."""
