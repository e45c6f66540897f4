"""Make networks of what a person brings: files, folders, names of other libraries."""
