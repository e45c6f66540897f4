"""The window: PySide6 and pyqtgraph. Sees frames of numpy arrays, never tensors; imports neither torch nor models."""
