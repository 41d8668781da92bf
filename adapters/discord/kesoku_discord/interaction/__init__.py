"""Slash commands, buttons and menus: what Discord wants within seconds, and what they mean to the core."""
