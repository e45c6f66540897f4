"""Writers of files: each file may export WRITER."""
