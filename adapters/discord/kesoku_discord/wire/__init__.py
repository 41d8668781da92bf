"""The line to Discord: one client of discord.py, its pace, what its errors mean, and what is sent over it."""
