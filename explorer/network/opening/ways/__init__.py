"""Ways in for networks that are no cards: each file exports one WAY."""
