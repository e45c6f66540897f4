"""Writers: one file each exports WRITER."""
