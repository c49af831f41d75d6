"""`doctor`: what can be reached, what answers there, and what to do about what is wrong."""
