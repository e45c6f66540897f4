"""Train and judge networks on points in space: charged bodies, molecules, sets of points."""
