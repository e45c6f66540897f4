"""Hold one package for each kind of data: everything the core knows of it."""
