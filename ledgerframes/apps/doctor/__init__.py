"""`doctor`: reachable servers, their answers, and remedies for problems."""
