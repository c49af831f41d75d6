"""The picture in the README, by the lines that stand there."""

import ledgerframes as lf

with lf.sandbox(seed=7, updates=4000) as net:  # your own range: lf.connect(scan_url=...), start=, end=
    reassignments = lf.load_reassignments(net, limit=4000)

flows = lf.reassignment_flows(reassignments)
with lf.plot.style("light"):
    lf.plot.reassignment_flows(flows).figure.savefig("flows.png", dpi=120)
print(flows.status.value_counts().to_string())
