"""How things look on Discord: answers, questions, tables and the live status. Pure, and without the SDK."""
