"""Language models behind one small protocol (`base`): OpenAI-compatible chat, and a scripted one that needs no key."""
