"""Cases that Equiscope does not yet judge rightly, and in what way; a repair takes its entries out."""

KNOWN: dict[str, str] = {
    # a mean over rows or columns of an image has no field: the layer that pads along it is listed, and not blamed
    "newer: strips, a fault": "wrong layer",
    # as many channels as rows and columns, and code that puts them last: which axis is which is read off the shape
    "judged_pictures: ConvNeXt, translation, fault 1": "wrong layer",
    "judged_pictures: ConvNeXt, translation, fault 2": "wrong layer",
    "judged_pictures: ConvNeXt, translation, fault 3": "wrong layer",
    "judged_pictures: ConvNeXt, translation, from a file, fault 1": "wrong layer",
    "judged_pictures: ConvNeXt, translation, from a file, fault 2": "wrong layer",
    "judged_pictures: ConvNeXt, translation, from a file, fault 3": "wrong layer",
    # channels and flattened places, which are pooled to one: 4 channels may be 2 x 2 places
    "judged_pictures: orthogonal, translation": "no verdict",
    "judged_pictures: orthogonal, translation, fault 2": "no verdict",
    "judged_pictures: orthogonal, translation, fault 3": "no verdict",
    "judged_pictures: orthogonal, translation, from a file": "no verdict",
    "judged_pictures: orthogonal, translation, from a file, fault 2": "no verdict",
    "judged_pictures: orthogonal, translation, from a file, fault 3": "no verdict",
    # a dense layer over so many members and no other number: its field is not known, it is named and not blamed
    "judged_sets: Mixer, permutation, fault 1": "wrong layer",
    # read both ways and added: a layer that breaks the law alone is one of two whose faults cancel, and is blamed too
    "judged_series: Palindromes, reversal, fault 1": "wrong layer",
    "judged_series: Palindromes, reversal, fault 3": "wrong layer",
    "judged_series: Palindromes, reversal, from a file, fault 1": "wrong layer",
    "judged_series: Palindromes, reversal, from a file, fault 3": "wrong layer",
    "judged_series: Strands, reverse-complement, fault 1": "wrong layer",
    "judged_series: Strands, reverse-complement, fault 3": "wrong layer",
    "judged_series: Strands, reverse-complement, from a file, fault 1": "wrong layer",
    "judged_series: Strands, reverse-complement, from a file, fault 3": "wrong layer",
}
