"""Cases that Equiscope does not yet judge rightly, and in what way; a repair takes its entries out."""

KNOWN: dict[str, str] = {}
