"""Run the program without a window: command line, engine, worker thread, reports."""
