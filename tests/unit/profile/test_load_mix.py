"""What a load profile resolves to: requests as kperf's builders make them, drawn by the core from the seed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfq import _core
from perfq.profile.load.mix import salted
from perfq.profile.load.profile import LoadProfile
from perfq.profile.load.segments import Segment, segments_of


def profile(*specs: dict[str, Any], **more: Any) -> LoadProfile:
    """A load profile of these specs."""
    return LoadProfile.model_validate({"version": 1, "specs": list(specs), **more})


def only(spec: dict[str, Any], **more: Any) -> Segment:
    """The one segment of a profile of one spec."""
    (segment,) = segments_of(profile(spec, **more))
    return segment


def mix(segment: Segment) -> _core.Mix:
    """The core's generator."""
    return _core.Mix(json.dumps(segment.mix))


def sent(request: dict[str, Any], count: int = 1, **spec: Any) -> list[_core.MixRequest]:
    """The first requests of a spec with this request alone."""
    segment = only({"rate": 10, "total": count, "requests": [{"shares": 1, **request}], **spec})
    return mix(segment).requests(0, 1, count)


def url(request: dict[str, Any], **spec: Any) -> str:
    """Verb, path and query of the first request."""
    (first,) = sent(request, **spec)
    return f"{first['verb']} {first['path']}{'?' + first['query'] if first['query'] else ''}"


PODS = {"version": "v1", "resource": "pods"}


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"staleList": PODS}, "LIST /api/v1/pods?resourceVersion=0"),
        ({"quorumList": PODS}, "LIST /api/v1/pods"),
        ({"quorumList": {**PODS, "group": "core", "limit": 500}}, "LIST /api/v1/pods?limit=500"),
        (
            {"staleList": {**PODS, "namespace": "a", "selector": "app in (x,y)", "fieldSelector": "spec.nodeName=n 1"}},
            "LIST /api/v1/namespaces/a/pods?fieldSelector=spec.nodeName%3Dn+1&labelSelector=app+in+%28x%2Cy%29"
            "&resourceVersion=0",
        ),
        (
            {"watchList": {"group": "apps", "version": "v1", "resource": "deployments", "selector": "a=b"}},
            "WATCH /apis/apps/v1/deployments?allowWatchBookmarks=true&labelSelector=a%3Db"
            "&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
        ),
        (
            {"staleGet": {**PODS, "namespace": "a", "name": "web-0"}},
            "GET /api/v1/namespaces/a/pods/web-0?resourceVersion=0",
        ),
        ({"quorumGet": {"version": "v1", "resource": "nodes", "name": "n"}}, "GET /api/v1/nodes/n"),
        ({"get": {"version": "v1", "resource": "nodes", "name": "n", "keySpaceSize": 1}}, "GET /api/v1/nodes/n-0"),
        (
            {"getPodLog": {"namespace": "a", "name": "p", "container": "c", "tailLines": 0, "limitBytes": 9}},
            "GET /api/v1/namespaces/a/pods/p/log?container=c&limitBytes=9&tailLines=0",
        ),
        ({"getPodLog": {"namespace": "a", "name": "p"}}, "GET /api/v1/namespaces/a/pods/p/log"),
    ],
)
def test_a_read_asks_for_what_kperf_asks_for(request_: dict[str, Any], expected: str) -> None:
    assert url(request_) == expected


def test_a_watch_list_ends_with_its_bookmark_and_no_other_request_does() -> None:
    (watch,) = sent({"watchList": PODS})
    assert watch["until_initial_bookmark"]
    (listed,) = sent({"staleList": PODS})
    assert not listed["until_initial_bookmark"]


def test_a_put_replaces_a_config_map_of_the_key_space_with_a_payload_of_its_size() -> None:
    put = {"version": "v1", "resource": "configmaps", "namespace": "a", "name": "cm", "keySpaceSize": 3}
    requests = sent({"put": {**put, "payloadSize": 100}}, 50)
    assert {request["path"] for request in requests} == {f"/api/v1/namespaces/a/configmaps/cm-{n}" for n in range(3)}
    payloads = set()
    for request in requests:
        body = json.loads(request["body"] or b"")
        assert (request["verb"], request["content_type"], request["key"]) == ("UPDATE", "application/json", None)
        assert (body["apiVersion"], body["kind"], body["metadata"]["namespace"]) == ("v1", "ConfigMap", "a")
        assert request["path"].endswith(f"/{body['metadata']['name']}")
        payloads.add(body["data"]["payload"])
    assert {len(payload) for payload in payloads} == {100}
    assert len(payloads) == 50


@pytest.mark.parametrize(
    ("patch_type", "content_type"),
    [
        ("json", "application/json-patch+json"),
        ("merge", "application/merge-patch+json"),
        ("strategic-merge", "application/strategic-merge-patch+json"),
    ],
)
def test_a_patch_is_sent_with_its_type_and_its_body_trimmed(patch_type: str, content_type: str) -> None:
    patch = {**PODS, "namespace": "a", "name": "p", "patchType": patch_type, "body": ' {"metadata": {}}\n'}
    (request,) = sent({"patch": patch})
    assert (request["verb"], request["path"]) == ("PATCH", "/api/v1/namespaces/a/pods/p")
    assert (request["content_type"], request["body"]) == (content_type, b'{"metadata": {}}')


@pytest.mark.parametrize("resource", ["pods", "configmaps"])
def test_created_objects_have_names_of_their_own_and_are_deleted_after_they_were_created(resource: str) -> None:
    post = {"version": "v1", "resource": resource, "namespace": "a", "deleteRatio": 0.4, "payloadSize": 12}
    alive: list[str] = []
    for request in sent({"postDel": post}, 300):
        assert request["key"] is not None
        _, kind, name = request["key"].split("/")
        assert kind == resource
        if request["verb"] == "CREATE":
            body = json.loads(request["body"] or b"")
            assert (body["metadata"]["name"], request["path"]) == (name, f"/api/v1/namespaces/a/{resource}")
            alive.append(name)
        else:
            assert request["path"] == f"/api/v1/namespaces/a/{resource}/{alive.pop(0)}"
    assert 30 < len(alive) < 90


def test_a_runs_name_is_in_the_names_of_its_objects_and_not_in_the_plan() -> None:
    segment = only({"requests": [{"shares": 1, "postDel": {**PODS, "namespace": "a"}}]})
    options = salted(segment.options(runners=3), "run-7")
    assert segment.mix["salt"] is None
    first, again = (_core.Mix(json.dumps(mix)).requests(2, 3, 1)[0] for mix in (segment.mix, options["source"]["mix"]))
    assert (first["key"], again["key"]) == ("a/pods/perfq-0-0-2", "a/pods/perfq-0-0-run-7-2")
    trace = {"source": {"trace": {"path": "a"}}, "runners": 1}
    assert salted(trace, "run-7") == trace


def test_a_name_of_ones_own_makes_a_key_space_that_all_runners_fill_together() -> None:
    post = {"version": "v1", "resource": "configmaps", "namespace": "a", "name": "cm"}
    segment = only({"total": 4, "requests": [{"shares": 1, "postDel": post}]})
    options = salted(segment.options(runners=3), "run-7")
    generator = _core.Mix(json.dumps(options["source"]["mix"]))
    keys = [request["key"] for runner in range(3) for request in generator.requests(runner, 3, 9)]
    assert sorted(keys, key=str) == sorted(f"a/configmaps/cm-{index}" for index in range(12))


def test_a_body_of_ones_own_is_a_template_for_any_resource() -> None:
    body = '{"metadata": {"name": "{name}"}, "spec": {"number": {seq}, "text": "{rand:5}"}}'
    custom = {"group": "example.test", "version": "v1", "resource": "things", "namespace": "a"}
    requests = sent({"postDel": {**custom, "body": body}}, 3)
    assert [json.loads(request["body"] or b"")["spec"]["number"] for request in requests] == [1, 2, 3]
    assert requests[0]["path"] == "/apis/example.test/v1/namespaces/a/things"
    assert requests[0]["key"] == "a/things.example.test/perfq-0-0-0"
    (put,) = sent({"put": {**custom, "name": "one", "body": '{"a": "{namespace}"}'}})
    assert put["body"] == b'{"a": "a"}'


def test_headers_of_a_request_go_over_those_of_its_spec_and_impersonation_is_one_or_the_other() -> None:
    spec: dict[str, Any] = {
        "headers": {"X-A": "spec", "x-b": "spec", "User-Agent": "spec/1"},
        "impersonate": {"user": "jane", "groups": ["dev", "ops"], "uid": "7", "extra": {"scope": ["a", "b"]}},
    }
    (inherited,) = sent({"staleList": PODS}, **spec)
    assert inherited["user_agent"] == "spec/1"
    assert inherited["headers"] == [
        ("X-A", "spec"),
        ("x-b", "spec"),
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Extra-scope", "a"),
        ("Impersonate-Extra-scope", "b"),
    ]
    own: dict[str, Any] = {"headers": {"x-a": "own", "user-agent": "own/1"}, "impersonate": {"user": "john"}}
    (request,) = sent({"staleList": PODS, **own}, **spec)
    assert request["user_agent"] == "own/1"
    assert request["headers"] == [("x-a", "own"), ("x-b", "spec"), ("Impersonate-User", "john")]


RESOURCES = st.fixed_dictionaries(
    {"version": st.just("v1"), "resource": st.sampled_from(["configmaps", "pods"]), "namespace": st.just("a")}
)
SIZES = st.integers(1, 30)


def of_type(key: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Requests of one type."""
    return st.builds(lambda resource, more: {key: {**resource, **more}}, RESOURCES, st.fixed_dictionaries(fields))


REQUESTS = st.one_of(
    of_type("staleList"),
    of_type("quorumList", limit=st.integers(0, 9)),
    of_type("watchList"),
    of_type("get", name=st.just("n"), keySpaceSize=SIZES),
    of_type("put", name=st.just("n"), keySpaceSize=SIZES, payloadSize=SIZES, resource=st.just("configmaps")),
    of_type("patch", name=st.just("n"), patchType=st.sampled_from(["json", "merge"]), body=st.just('{"n": {seq}}')),
    of_type("postDel", deleteRatio=st.sampled_from([0, 0.25, 0.5]), payloadSize=SIZES),
)
SPECS = st.fixed_dictionaries(
    {
        "requests": st.lists(
            st.builds(lambda kind, shares: {**kind, "shares": shares}, REQUESTS, SIZES), min_size=1, max_size=4
        ),
        "arrival": st.sampled_from(["constant", "poisson"]),
        "rate": st.floats(0.5, 500),
    },
    optional={"total": st.integers(1, 200), "duration": st.integers(1, 2), "warmup": st.integers(0, 1)},
)


@settings(max_examples=50)
@given(st.lists(SPECS, min_size=1, max_size=3), st.integers(0, 2**63 - 1), st.integers(1, 4))
def test_any_profile_draws_what_it_plans_the_same_each_time_and_for_each_runner_its_own(
    specs: list[dict[str, Any]], seed: int, runners: int
) -> None:
    for segment in segments_of(profile(*specs, seed=seed)):
        streams = []
        for runner in range(runners):
            planned, end_us = mix(segment).plan(runner)
            requests = mix(segment).requests(runner, runners, 10_000)
            assert requests == mix(segment).requests(runner, runners, 10_000)
            assert len(requests) == planned
            dues = [request["due_us"] or 0 for request in requests]
            assert dues == sorted(dues)
            assert max(dues, default=0) <= (end_us or 0)
            streams.append(requests)
        created = [request["key"] for stream in streams for request in stream if request["verb"] == "CREATE"]
        assert len(set(created)) == len(created)
