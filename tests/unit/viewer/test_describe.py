"""Describe: what matters first, nothing lost but what only machines read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perfq.viewer.describe import describe
from perfq.viewer.lines import printable

scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5))
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
)


def test_a_pod_with_its_events() -> None:
    pod = {
        "metadata": {"name": "web", "namespace": "shop", "labels": {"b": "2", "a": "1"}, "managedFields": [{"x": 1}]},
        "spec": {"nodeName": "n1", "containers": [{"name": "app", "ports": [{"containerPort": 80}]}]},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "False", "reason": "NotYet"}],
            "containerStatuses": [
                {"name": "app", "ready": False, "restartCount": 3, "state": {"waiting": {}}, "image": "i:1"}
            ],
        },
    }
    events = [{"type": "Warning", "reason": "BackOff", "message": "again", "count": 4, "lastTimestamp": "T"}]
    text = "\n".join(describe(pod, events))
    for part in (
        "Name:           web\n",
        "Namespace:      shop\n",
        "Node:           n1\n",
        "Labels:         a=1\n                b=2\n",
        "Container:      app  waiting  ready false  restarts 3  i:1\n",
        "Condition:      Ready False  NotYet\n",
        "    - name: app\n      ports:\n        - containerPort: 80\n",
        "  T                           Warning  BackOff             x4  again",
    ):
        assert part in text
    assert "managedFields" not in text


@given(st.dictionaries(st.sampled_from(["spec", "status"]), st.dictionaries(st.text(max_size=4), trees, max_size=3)))
def test_any_object_can_be_described(found: dict[str, dict[str, object]]) -> None:
    safe = {section: value for section, value in found.items() if not set(value) & {"conditions", "containerStatuses"}}
    lines = describe(safe, [])
    assert lines[-1] == "Events:         <none>"


@given(st.text())
def test_a_line_on_the_screen_holds_nothing_that_commands_the_terminal(text: str) -> None:
    assert printable(text).isprintable()
