"""Events in, tables of what the network pays, mints and burns out; exact to the last digit."""
