"""Rules about what a client of this kind has to tell, so that its run proves something.

A client that crashed cannot tell it: that run fails by its exit, and these rules do not apply.
"""

from __future__ import annotations

from perfq.measure.replay_recorded import ReplayRecorded
from perfq.measure.result.common import Check, CheckStatus


def client_checks(recorded: ReplayRecorded) -> list[Check]:
    """Identity, digests, input, scenarios."""
    checks = [_identity(recorded), *_digests(recorded), _input(recorded), _scenarios(recorded)]
    if recorded.replay.client_exit is None:
        return checks
    return [check.replace(status="not_applicable", advice=None) for check in checks]


def _identity(recorded: ReplayRecorded) -> Check:
    """delivered = rendered + coalesced + dropped, between the server's count and the client's.

    A client without a table says of an update that it was received, and no more.
    """
    evidence = recorded.evidence
    difference: int | None = None
    status: CheckStatus = "not_applicable"
    advice = None
    if recorded.manifest.client.has_probe:
        difference = _without_a_fate(recorded)
        status = "unknown" if difference is None else "passed" if difference == 0 else "failed"
        advice = "the client lost updates, or miscounts them: delivered = rendered + coalesced + dropped must hold"
        if evidence.probe_lines == 0:
            advice = "the client never spoke to the probe (PERFQ_PROBE)"
        elif evidence.probe_lost_lines or evidence.probe_bad_lines:
            lost, bad = evidence.probe_lost_lines, evidence.probe_bad_lines
            advice = f"of the client's probe, {lost} lines were lost and {bad} unreadable: its counts are not whole"
    return Check(
        name="updates without a fate",
        observed=difference,
        limit=0,
        unit="count",
        status=status,
        advice=advice if status in ("failed", "unknown") else None,
    )


def _without_a_fate(recorded: ReplayRecorded) -> int | None:
    updates, received = recorded.replay.updates, recorded.evidence.received
    if updates.delivered is None:
        return None
    if not recorded.manifest.client.has_table:
        return None if received is None else updates.delivered - received
    if updates.rendered is None or updates.coalesced is None or updates.dropped is None:
        return None
    return updates.delivered - updates.rendered - updates.coalesced - updates.dropped


def _digests(recorded: ReplayRecorded) -> list[Check]:
    """Those that this kind of client can give have to be there; whether they match is a budget's question."""
    client, digests = recorded.manifest.client, recorded.replay.digests
    checks = []
    for name, able, digest in (
        ("store digest", client.has_probe, digests.store),
        ("table digest", client.has_probe and client.has_table, digests.table),
    ):
        status: CheckStatus = "not_applicable" if not able else "unknown" if digest is None else "passed"
        advice = "the client gave no digest after the last event" if status == "unknown" else None
        checks.append(Check(name=name, observed=digest, limit=None, status=status, advice=advice))
    return checks


def _input(recorded: ReplayRecorded) -> Check:
    """All planned keys were tried. Keys without effect take their full time-out: where these used up the
    time, the budget on input tells it, and the run does not escape as invalid."""
    pressed, planned = recorded.replay.input, 2 * recorded.replay.input.planned
    keys = 2 * pressed.pairs + pressed.failed + pressed.censored
    latency = recorded.latency.get("input")
    taken = max(keys, 0 if latency is None else latency.count + pressed.failed)
    if not recorded.manifest.client.has_cursor:
        planned = 0
    if planned == 0:
        status: CheckStatus = "not_applicable"
    elif taken >= planned or pressed.censored:
        status = "passed"
    else:
        status = "failed"
    return Check(
        name="keys pressed while events flowed",
        observed=None if planned == 0 else taken,
        limit=None if planned == 0 else f"at least {planned}",
        status=status,
        advice="the churn was too short for the input samples: use a longer --duration or a steady rate above 0"
        if status == "failed"
        else None,
    )


def _scenarios(recorded: ReplayRecorded) -> Check:
    """A scenario is never skipped: one that was to be walked and was not proves nothing of it."""
    planned = recorded.manifest.options.scenarios
    walked = {one.name for one in recorded.replay.scenarios}
    missing = [name for name in planned if name not in walked]
    status: CheckStatus = "not_applicable" if not planned else "failed" if missing else "passed"
    return Check(
        name="scenarios not walked",
        observed=len(missing) if planned else None,
        limit=0,
        unit="count",
        status=status,
        advice=f"never begun: {', '.join(missing)}" if missing else None,
    )
