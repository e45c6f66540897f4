"""Show matrices over pairs."""
