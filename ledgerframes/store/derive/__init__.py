"""Tables that a store computes from its events and keeps next to them."""
