"""Parts that readers of several spaces share: archives, tables, texts, TIFF, and checks of what a file claims."""
