"""What the star schema and computed tables of a lake still read of payloads by themselves."""
