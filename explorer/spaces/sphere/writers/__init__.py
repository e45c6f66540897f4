"""Writers of functions on the sphere: one file each exports WRITER."""
