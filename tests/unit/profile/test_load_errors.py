"""Load profiles that are wrong: every error at once, each with its line, the value seen and what is expected."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.errors import UsageError
from perfq.profile.load.reading import load_document
from perfq.profile.source import Source


def errors(text: str) -> list[str]:
    """What reading that text complains of, without the file's name."""
    with pytest.raises(UsageError) as caught:
        load_document(Source("load.yaml", text.encode()))
    return [line.removeprefix("load.yaml:") for line in caught.value.details]


def with_spec(*lines: str) -> str:
    """A profile of one spec with these lines in it, from line 3 on."""
    return "version: 1\nspecs:\n- client: 1\n" + "".join(f"  {line}\n" for line in lines)


def with_request(*lines: str, more: str = "rate: 1") -> str:
    """A profile of one spec with one request, whose lines begin at 5."""
    first, *others = lines
    return with_spec(more, "requests:", f"- {first}", *(f"  {line}" for line in others))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("count: 0\nreplayProfile: a\n", "1: count: got 0, expected an integer from 1 to 10000"),
        ("count: 2\n", "1: got neither loadProfile nor replayProfile, expected one of them"),
        (
            "count: 2\nreplayProfile: a\nloadProfile:\n  version: 1\n  specs:\n  - requests:\n"
            "    - {shares: 1, staleList: {version: v1, resource: pods}}\n",
            "1: got both loadProfile and replayProfile, expected one of them",
        ),
        ("loadProfile:\n  version: 2\n  specs: []\ncount: 1\n", "2: loadProfile.version: got 2, expected 1, the only"),
        ("version: true\nspecs: []\n", "1: version: got true, expected 1, the only version that this perfq reads"),
        ("version: 1\nspecs: []\n", "2: specs: got [], expected a list of at least 1"),
        ("version: 1\n", "1: specs: got nothing, expected a list of at least 1"),
        ("[]\n", "1: got [], expected a mapping with the keys version, description, specs, seed, timeout"),
        (with_spec("rate: -1"), "4: specs.0.rate: got -1, expected a number from 0 to 1000000"),
        (with_spec("rate: 1e-9"), "4: specs.0.rate: got 1e-09, expected 0 for a closed loop, or at least 0.000001"),
        (with_spec("conns: 0"), "4: specs.0.conns: got 0, expected an integer from 1 to 65535"),
        (with_spec("total: -1"), "4: specs.0.total: got -1, expected an integer from 0 to 1000000000000"),
        (with_spec("duration: 1.5"), "4: specs.0.duration: got 1.5, expected an integer from 0 to 2592000"),
        (
            with_spec("rate: 0.001", "total: 100000"),
            "5: specs.0.total: got 100000, expected a run of at most 30 days (at 0.001/s)",
        ),
        (with_spec("contentType: yaml"), '4: specs.0.contentType: got "yaml", expected one of json, protobuf'),
        (with_spec("arrival: even"), '4: specs.0.arrival: got "even", expected one of constant, poisson'),
        (with_spec("warmup: soon"), '4: specs.0.warmup: got "soon", expected a duration such as 250ms, 10s or 2m'),
        (with_spec("warmup: 31d"), '4: specs.0.warmup: got "31d", expected a duration such as 250ms, 10s or 2m, at'),
        (with_spec("requests: []"), "4: specs.0.requests: got no requests, expected at least one of them, or a watch"),
        (with_spec("rate: 1"), "3: specs.0.requests: got no requests, expected at least one of them, or a watch"),
        (
            with_spec("watch: {version: v1, resource: pods}", "requests: []"),
            "3: specs.0: got only watches and no duration, expected a duration above 0",
        ),
        (
            with_spec("watch: {version: v1, resource: pods}", "duration: 1", "warmup: 1"),
            "6: specs.0.warmup: got a warm-up without requests, expected requests to warm up with",
        ),
        (with_spec("stages: [{duration: 1}]"), "4: specs.0.stages.0: got no rate, expected either rate, or from and"),
        (
            with_spec("stages: [{duration: 1, from: 1}]"),
            "4: specs.0.stages.0: got from, expected either rate, or from and to",
        ),
        (
            with_spec("stages: [{duration: 1, rate: 0}]"),
            "4: specs.0.stages: got rates of 0 only, expected a stage with a rate above 0",
        ),
        (with_spec("stages: [{duration: 0, rate: 1}]"), "4: specs.0.stages.0.duration: got 0, expected a duration"),
        (
            with_spec("rate: 3", "stages: [{duration: 1, rate: 1}]"),
            "5: specs.0.stages: got stages and rate, expected either of them; stages have a rate of their own",
        ),
        (with_request("shares: 1"), "6: specs.0.requests.0: got no type of request, expected one of staleList, quor"),
        (
            with_request("get: {version: v1, resource: pods, name: a}", "staleList: {version: v1, resource: pods}"),
            "6: specs.0.requests.0: got staleList and get at once, expected one of staleList, ",
        ),
        (
            with_request("staleList: {version: v1, resource: pods}"),
            "5: specs.0.requests: got shares of 0 only, expected a request with shares above 0",
        ),
        (
            with_request("shares: 2147483648", "staleList: {version: v1, resource: pods}"),
            "6: specs.0.requests.0.shares: got 2147483648, expected an integer from 0 to 2147483647",
        ),
        (
            with_request("shares: 1", "staleList: {version: v1, resource: pods, limit: 5}"),
            "7: specs.0.requests.0.staleList.limit: got 5, expected 0: a list from the cache is never in pages",
        ),
        (
            with_request("shares: 1", "staleList: {resource: pods}"),
            "7: specs.0.requests.0.staleList.version: got nothing, expected text that matches",
        ),
        (
            with_request("shares: 1", "quorumGet: {version: v1, resource: pods, name: a/b}"),
            '7: specs.0.requests.0.quorumGet.name: got "a/b", expected text that matches',
        ),
        (
            with_request("shares: 1", "get: {version: v1, resource: pods, name: a, keySpaceSize: 0}"),
            "7: specs.0.requests.0.get.keySpaceSize: got 0, expected an integer from 1 to 4294967295",
        ),
        (
            with_request("shares: 1", "put: {version: v1, resource: pods, name: a, keySpaceSize: 1, payloadSize: 1}"),
            '7: specs.0.requests.0.put.resource: got "pods", expected configmaps of v1, or a body for any other',
        ),
        (
            with_request("shares: 1", "put: {version: v1, resource: configmaps, namespace: a, name: a}"),
            "7: specs.0.requests.0.put.payloadSize: got nothing, expected an integer of at least 1, or a body",
        ),
        (
            with_request("shares: 1", "put: {version: v1, resource: configmaps, name: a, payloadSize: 3}"),
            "7: specs.0.requests.0.put.namespace: got no namespace, expected that of the ConfigMaps",
        ),
        (
            with_request("shares: 1", "put: {version: v1, resource: pods, name: a, payloadSize: 3, body: '{}'}"),
            "7: specs.0.requests.0.put.payloadSize: got a payloadSize and a body, expected either of them",
        ),
        (
            with_request("shares: 1", "patch: {version: v1, resource: pods, name: a, patchType: apply, body: '{}'}"),
            '7: specs.0.requests.0.patch.patchType: got "apply", expected one of json, merge, strategic-merge',
        ),
        (
            with_request("shares: 1", "patch: {version: v1, resource: pods, name: a, patchType: json, body: '{'}"),
            '7: specs.0.requests.0.patch.body: got "{", expected JSON, with {seq}, {rand:N}, {name} or {namespace}',
        ),
        (
            with_request(
                "shares: 1", "patch: {version: v1, resource: a, name: a, patchType: json, body: '\"{rand:x}\"'}"
            ),
            '7: specs.0.requests.0.patch.body: got "{rand:x}", expected {rand:N} with N from 0 to 3145728',
        ),
        (
            with_request("shares: 1", "postDel: {version: v1, resource: pods, namespace: a, deleteRatio: 0.6}"),
            "7: specs.0.requests.0.postDel.deleteRatio: got 0.6, expected a number from 0 to 0.5",
        ),
        (
            with_request("shares: 1", "postDel: {version: v1, resource: secrets, namespace: a}"),
            '7: specs.0.requests.0.postDel.resource: got "secrets", expected pods or configmaps of v1, or a body for',
        ),
        (
            with_request("shares: 1", "postDel: {version: v1, resource: pods}"),
            "7: specs.0.requests.0.postDel.namespace: got no namespace, expected that of the pods",
        ),
        (
            with_request("shares: 1", "postDel: {version: v1, resource: secrets, body: '{}'}"),
            "7: specs.0.requests.0.postDel.body: got a body without {name}, expected {name} as metadata.name",
        ),
        (
            with_request("shares: 1", "getPodLog: {name: a}"),
            "7: specs.0.requests.0.getPodLog.namespace: got nothing, expected text",
        ),
        (
            with_request("shares: 1", "getPodLog: {namespace: a, name: a, limitBytes: 0}"),
            "7: specs.0.requests.0.getPodLog.limitBytes: got 0, expected an integer from 1 to",
        ),
        (
            with_request("shares: 1", "staleList: {version: v1, resource: pods}", more="headers: {Host: a}"),
            '4: specs.0.headers: got {"Host": "a"}, expected other headers than Host, which the kubeconfig decides',
        ),
        (
            with_request("shares: 1", "staleList: {version: v1, resource: pods}", more="headers: {'a b': a}"),
            '4: specs.0.headers: got {"a b": "a"}, expected names of headers; \'a b\' is none',
        ),
        (
            with_request("shares: 1", "staleList: {version: v1, resource: pods}", more='headers: {a: "b\\n"}'),
            '4: specs.0.headers: got {"a": "b\\n"}, expected values in printable ASCII; that of a is not',
        ),
        (
            with_request("shares: 1", "staleList: {version: v1, resource: pods}", more="impersonate: {groups: [a]}"),
            "4: specs.0.impersonate.user: got nothing, expected text of at least 1 character",
        ),
    ],
)
def test_an_error_is_named_with_its_line_the_value_seen_and_what_is_expected(text: str, complaint: str) -> None:
    assert any(line.startswith(complaint) for line in errors(text)), errors(text)


def test_the_first_spec_has_defaults_and_the_later_ones_have_to_say() -> None:
    request = "requests: [{shares: 1, staleList: {version: v1, resource: pods}}]"
    assert errors(f"version: 1\nspecs:\n- {request}\n- {request}\n") == [
        "4: specs.1.conns: got nothing, expected an integer of at least 1 (only the first spec has a default)",
        "4: specs.1.client: got nothing, expected an integer of at least 1 (only the first spec has a default)",
        "4: specs.1: got neither total nor duration, expected total or duration above 0 "
        "(only the first spec has a default, of 1000 requests)",
    ]


def test_all_errors_of_all_specs_are_named_at_once_in_the_order_of_the_text() -> None:
    lines = errors(
        "version: 1\nsed: 4\nspecs:\n- rate: x\n  requests:\n  - {shares: 1}\n  - shares: -1\n"
        "    patch: {version: v1, resource: pods, name: a, patchType: json, body: '{'}\n- conns: 1\n  client: 0\n"
    )
    assert [line.split(": got")[0] for line in lines] == [
        "2: sed",
        "4: specs.0.rate",
        "6: specs.0.requests.0",
        "7: specs.0.requests.1.shares",
        "8: specs.0.requests.1.patch.body",
        "9: specs.1",
        "9: specs.1.requests",
        "10: specs.1.client",
    ]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "version",
                        "spec",
                        "specs",
                        "count",
                        "loadProfile",
                        "requests",
                        "Requests",
                        "watch",
                        "stages",
                        "rate",
                        "total",
                        "duration",
                        "put",
                        "patch",
                        "postDel",
                        "body",
                        "shares",
                        "resource",
                    ]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=25,
    )
)
def test_whatever_a_document_holds_it_is_read_or_refused_with_its_errors(value: Any) -> None:
    try:
        load_document(Source("load.yaml", json.dumps(value).encode()))
    except UsageError as error:
        assert error.details
