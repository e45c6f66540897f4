"""Cases that Equiscope does not yet judge rightly, and in what way; a repair takes its entries out."""

KNOWN: dict[str, str] = {
    "turns: group convolutions, a turn twice": "wrong layer",
    "turns: group convolutions, filters not rolled": "wrong layer",
    "turns: group convolutions, one filter larger": "wrong layer",
    "turns: group convolutions, a map, a turn twice": "wrong layer",
    "strands: pyramid in time, average, nearest, any filter below": "wrong layer",
    "strands: pyramid in time, max, linear, any filter below": "wrong layer",
    "strands: pyramid in time, max, linear, stride 2": "wrong layer",
    "strands: both strands, steps": "accused",
    "strands: both strands, no complement in 0": "wrong layer",
    "strands: both strands, no reversal in 1": "wrong layer",
    "strands: both strands, bias in 2": "wrong layer",
    "arguments: as many edges as nodes, positions": "accused",
}
