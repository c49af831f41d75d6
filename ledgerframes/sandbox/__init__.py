"""An embedded, simulated ledger that serves the four interfaces on a loopback port, without the network.

A second reading of the contract: nothing here imports the client side, so that a mistake there cannot agree with
itself.
"""
