"""The agent's tools: each is bound in code to the request under review, and none takes an id."""
