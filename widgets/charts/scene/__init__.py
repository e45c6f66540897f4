"""Set up pyqtgraph's scene, view and view box."""
