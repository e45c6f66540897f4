"""Write pictures, films and tables."""
