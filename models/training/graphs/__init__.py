"""Train and judge networks on graphs: of nodes, of whole graphs, of molecules."""
