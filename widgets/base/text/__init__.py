"""Put numbers, names and source code into words."""
