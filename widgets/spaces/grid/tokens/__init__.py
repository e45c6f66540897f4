"""Images as tokens: attention over patches, codes, and pictures that are made token by token."""
