"""Read, find and write samples, whatever space they live in."""
