"""Cases that Equiscope does not yet judge rightly, and in what way; a repair takes its entries out."""

KNOWN: dict[str, str] = {
    # a mean over rows or columns of an image has no field: the layer that pads along it is listed, and not blamed
    "newer: strips, a fault": "wrong layer",
}
