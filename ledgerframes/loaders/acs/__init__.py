"""How snapshots of the active contracts are found, and read by pages or by objects; loaders of contracts call it."""
