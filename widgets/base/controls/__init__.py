"""Make controls, menus and small tables."""
