"""Messages of people on their way in: whether they are meant for the bot, what they say, and those that were missed."""
