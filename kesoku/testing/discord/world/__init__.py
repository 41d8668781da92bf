"""What there is: people, guilds, channels, messages, interactions, and who may do and see what."""
