"""Load profiles and runner groups: what kperf writes is read as it is, and every error is named with its line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perfq.cli.schema import schema_text
from perfq.errors import UsageError
from perfq.profile.load.profile import REQUEST_TYPES
from perfq.profile.load.reading import LoadDocument, load_document
from perfq.profile.override import Override
from perfq.profile.source import Source

#: Every key that kperf reads, at least once.
GROUP = """
count: 3
loadProfile:
  version: 1
  description: "a morning"
  specs:
    - rate: 12.5      # each runner
      total: 40
      duration: 0
      conns: 4
      client: 8
      contentType: json
      disableHTTP2: false
      maxRetries: 0
      requests:
        - staleList:
            group: batch
            version: v1
            resource: jobs
            namespace: team
            limit: 0
            selector: "app=a"
            fieldSelector: "metadata.name=x"
          shares: 10
        - quorumList:
            version: v1
            resource: pods
            limit: 500
          shares: 20
        - watchList: {version: v1, resource: configmaps, namespace: "", selector: "", fieldSelector: ""}
          shares: 5
        - staleGet: {version: v1, resource: nodes, name: node-1}
          shares: 5
        - quorumGet: {version: v1, resource: namespaces, name: team}
          shares: 5
    - rate: 0
      duration: 3
      conns: 1
      client: 2
      contentType: protobuf
      disableHTTP2: true
      maxRetries: 3
      requests:
        - put: {version: v1, resource: configmaps, namespace: team, name: cm, keySpaceSize: 9, payloadSize: 64}
          shares: 1
        - patch:
            group: apps
            version: v1
            resource: deployments
            namespace: team
            name: web
            keySpaceSize: 4
            patchType: strategic-merge
            body: |
              {"metadata": {"labels": {"touched": "yes"}}}
          shares: 1
        - postDel: {version: v1, resource: pods, namespace: team, deleteRatio: 0.5, payloadSize: 10}
          shares: 1
        - getPodLog: {namespace: team, name: a, container: main, tailLines: 10, limitBytes: 1000}
          shares: 1
nodeAffinity:
  pool: [load]
serviceAccount: runner
ownerReference: "v1:Pod:a:b"
"""

ONE = """version: 1
specs:
- rate: 1
  total: 1
  requests:
  - shares: 1
    staleList: {version: v1, resource: pods}
"""


def read(text: str, **flags: Any) -> LoadDocument:
    """The document of that text."""
    return load_document(Source("load.yaml", text.encode()), **flags)


def errors(text: str, **flags: Any) -> list[str]:
    """What reading that text complains of, without the file's name."""
    with pytest.raises(UsageError) as caught:
        read(text, **flags)
    return [line.removeprefix("load.yaml:") for line in caught.value.details]


def test_every_key_that_kperf_reads_is_read() -> None:
    document = read(GROUP)
    assert (document.count, document.replay_profile, document.warnings) == (3, None, ())
    assert document.profile is not None
    first, second = document.profile.specs
    assert (first.rate, first.total, first.conns, first.client) == (12.5, 40, 4, 8)
    assert (second.duration, second.content_type, second.disable_http2, second.max_retries) == (3, "protobuf", True, 3)
    patch = second.requests[1].patch
    assert patch is not None
    assert json.loads(patch.body) == {"metadata": {"labels": {"touched": "yes"}}}


def test_the_older_names_mean_the_same() -> None:
    older = ONE.replace("specs:\n- rate", "spec:\n  rate").replace("requests:", "Requests:")
    assert read(older).profile == read(ONE).profile


def test_the_lines_of_older_names_are_those_of_the_text() -> None:
    older = "version: 1\nspec:\n  rate: 1\n  Requests:\n  - shares: x\n    staleList: {version: v1, resource: pods}\n"
    assert errors(older) == ['5: specs.0.requests.0.shares: got "x", expected an integer from 0 to 2147483647']


def test_an_older_name_beside_the_one_of_today_is_refused() -> None:
    assert errors(ONE + "spec: {}\n") == ["8: spec: got spec beside specs, expected specs alone"]
    both = ONE.replace("  total", "  Requests: []\n  total")
    assert errors(both) == ["4: specs.0.Requests: got Requests beside requests, expected requests alone"]


def test_what_is_null_is_absent() -> None:
    text = ONE.replace("total: 1", "total:\n  duration: ~\n  conns: null")
    spec = read(text).profile
    assert spec is not None
    assert (spec.specs[0].total, spec.specs[0].conns) == (0, None)


def test_a_replay_group_names_its_file_and_a_replay_needs_no_load_profile() -> None:
    document = read('count: 4\nreplayProfile: "https://example.test/replay.yaml.gz"\nreplayPVCName: claim\n')
    assert (document.count, document.profile) == (4, None)
    assert document.replay_profile == "https://example.test/replay.yaml.gz"


def test_an_unknown_key_names_the_nearest_and_can_be_allowed() -> None:
    typo = ONE.replace("rate: 1", "rate: 1\n  clients: 3").replace("pods}", "pods, seletor: a=b}")
    first, second = errors(typo)
    assert first.startswith("4: specs.0.clients: got an unknown key, expected one of rate, total, ")
    assert first.endswith("(did you mean client?)")
    assert second.endswith("(did you mean selector?)")
    document = read(typo, allow_unknown=True)
    assert document.profile == read(ONE).profile
    assert [str(warning).removeprefix("load.yaml:") for warning in document.warnings] == [first, second]


def test_an_allowed_unknown_key_hides_no_other_error() -> None:
    (line,) = errors(ONE.replace("rate: 1", "rate: x\n  foo: {bar: 1}"), allow_unknown=True)
    assert line.startswith("3: specs.0.rate: ")


def test_a_flag_changes_a_field_and_errors_name_the_flag() -> None:
    document = read(ONE.replace("specs:\n-", "spec:\n "), overrides=[Override(("specs", 0, "rate"), 7, "--set")])
    assert document.profile is not None
    assert document.profile.specs[0].rate == 7
    with pytest.raises(UsageError) as caught:
        read(ONE, overrides=[Override(("seed",), -1, "--seed")])
    assert caught.value.details == ("--seed: seed: got -1, expected an integer from 0 to 9223372036854775807",)


def test_there_is_a_type_for_each_request_of_kperf_and_a_schema_that_knows_them() -> None:
    for name in ("load-profile", "runner-group"):
        schema = json.loads(schema_text(name))
        known = schema["$defs"]["WeightedRequest"]["properties"]
        assert set(REQUEST_TYPES) <= set(known)
    assert {"count", "loadProfile", "replayProfile", "replayPVCName"} <= set(schema["properties"])
