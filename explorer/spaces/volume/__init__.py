"""The space of volumes: values at voxels, under the 48 symmetries of the cube and shifts."""
