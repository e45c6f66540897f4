"""Views: one file each exports VIEW."""
