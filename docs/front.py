"""The chart on the front page, by the lines that stand there."""

import ledgerframes as lf

with lf.sandbox(seed=7, updates=4000) as net:  # your own range: lf.connect("https://…/api/scan"), start=, end=
    history = lf.load_history(net)

with lf.plot.style("light"):
    lf.plot.coin_supply(history).figure.savefig("supply.png", dpi=100)
print(lf.supply(history).to_string(index=False))
