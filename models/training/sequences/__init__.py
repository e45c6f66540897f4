"""Train and judge networks on sequences."""
