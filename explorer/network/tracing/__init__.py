"""Run a network once, learn its layers, and watch what they give."""
