"""Mail in memory: one letter for one, one for all, and one that nobody can get."""

from uuid import uuid4

from kesoku.exchange import Exchange, MemoryMailStore

ada, bob, eve = uuid4(), uuid4(), uuid4()
exchange = Exchange(MemoryMailStore())
for owner in (ada, bob, eve):
    exchange.register(owner)

exchange.send(ada, bob, "the report is done", channel="result")
exchange.send(ada, None, "lunch")
lost = exchange.send(ada, uuid4(), "hello?")

report = exchange.route(ada)
print(len({mail for mail, _ in report.delivered}), "letters for", len(report.delivered), "mailboxes")
print("dead:", [str(reason) for mail, reason in report.dead if mail == lost.id])
print("bob has", [message.text for message in exchange.receive(bob, ada)])
first = exchange.pop(bob, ada)
print("and takes", first.text if first else None)
