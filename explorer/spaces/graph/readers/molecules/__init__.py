"""Readers of molecules: MOL, SDF, SMILES and XYZ."""
