"""Every arm of a `case` is reached: one that no history takes is dead, or nobody has tried it."""

from ledgerframes.models.engine import INPUTS, Engine, below, steps
from tests.models.arms import MACROS, MODELS, Counting, histories


def test_every_arm_of_a_case_is_reached(net, history, switched_history):
    counting = Counting()
    needs = {name: {low for step in steps(name) for low in below(step)} & {*INPUTS} for name in MODELS}
    for gives, settings in histories(net, history, switched_history):
        with Engine(gives) as engine:
            for values in settings:
                engine.set(values)
                wanted = [name for name in MODELS if counting.wants(name) and needs[name] <= gives.keys()]
                order = dict.fromkeys(step for name in wanted for step in steps(name))
                counting.make(engine, [step for step in order if step not in engine._built])
    left = [
        (name, {**MODELS, **MACROS}[name][slice(*arm)].strip())
        for name, own in counting.left.items()
        for arm in sorted(own.values())
    ]
    assert left == []
