"""Name what a state holds: models, interventions, maps of saliency."""
