"""Writers of volumes: one file each exports WRITER."""
