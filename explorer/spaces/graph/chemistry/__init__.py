"""Know molecules: atoms, bonds, boiling points."""
