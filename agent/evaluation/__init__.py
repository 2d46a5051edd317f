"""Measures the agent: scenarios as data, played in a scratch database, scored by the rows they leave."""
