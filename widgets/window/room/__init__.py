"""The frame of the window: panels, views, waiting, and whether what is shown is still true."""
