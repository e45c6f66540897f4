"""Time the window: starting, dragging, scrolling, drawing."""
