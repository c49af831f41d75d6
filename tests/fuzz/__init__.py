"""Made-up requests against the sandbox, and broken answers against the client: `make fuzz`."""
