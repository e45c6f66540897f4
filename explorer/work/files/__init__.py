"""Files of the program itself: where they are, how they are replaced, what is kept in the cache."""
