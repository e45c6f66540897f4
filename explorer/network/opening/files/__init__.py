"""Say what a model file holds, without executing anything of it; remember which code a person has trusted."""
