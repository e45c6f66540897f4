"""Networks on dialogues, but for what each paper adds."""
