"""Networks on meshes."""
