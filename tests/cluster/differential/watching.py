"""WATCH: from where, what comes first, what comes then, how it ends."""

from __future__ import annotations

from tests.cluster.differential.exchange import JSON_PATCH, MERGE, delete, get, patch, post, shaped, watch

CONFIG_MAPS = "/api/v1/namespaces/{namespace}/configmaps"
AHEAD = "999999999999999999"
INITIAL = {"allowWatchBookmarks": "true", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
HISTORY = [
    get(CONFIG_MAPS),
    post(CONFIG_MAPS, {"metadata": {"name": "h", "labels": {"w": "1"}}}),
    patch(MERGE, f"{CONFIG_MAPS}/h", {"data": {"a": "1"}}),
    patch(MERGE, f"{CONFIG_MAPS}/h", {"metadata": {"labels": {"w": "2"}}}),
    patch(JSON_PATCH, f"{CONFIG_MAPS}/h", [{"op": "replace", "path": "/metadata/labels/w", "value": "1"}]),
    delete(f"{CONFIG_MAPS}/h"),
]
FIRST = post(CONFIG_MAPS, {"metadata": {"name": "first", "labels": {"w": "1"}}, "data": {"a": "1"}})

CONVERSATIONS = {
    "the state and what follows": [
        FIRST,
        watch(CONFIG_MAPS),
        watch(CONFIG_MAPS, resourceVersion=0),
        watch(CONFIG_MAPS, resourceVersion="{version}"),
        watch(CONFIG_MAPS, labelSelector="w=1"),
        watch(CONFIG_MAPS, labelSelector="w=2"),
        watch(CONFIG_MAPS, fieldSelector="metadata.name=first"),
        watch(CONFIG_MAPS, limit=1),
        get(CONFIG_MAPS, watch="0", timeoutSeconds=1),
        get(CONFIG_MAPS, watch="rubbish", timeoutSeconds=1),
        get(f"{CONFIG_MAPS}/first", watch=1, timeoutSeconds=1),
    ],
    # The first version is kept: what happened since is told, as the selector has it.
    "history": [*HISTORY, watch(CONFIG_MAPS, resourceVersion="{first}")],
    "history by label": [*HISTORY, watch(CONFIG_MAPS, resourceVersion="{first}", labelSelector="w=1")],
    "history as a table": [
        *HISTORY,
        shaped("Table", CONFIG_MAPS, watch=1, timeoutSeconds=1, resourceVersion="{first}"),
    ],
    "history as metadata": [
        *HISTORY,
        shaped("PartialObjectMetadata", CONFIG_MAPS, watch=1, timeoutSeconds=1, resourceVersion="{first}"),
    ],
    "initial events": [
        FIRST,
        watch(CONFIG_MAPS, **INITIAL),
        watch(CONFIG_MAPS, allowWatchBookmarks="true"),
        watch(CONFIG_MAPS, allowWatchBookmarks="true", resourceVersion=0),
        shaped("Table", CONFIG_MAPS, watch=1, timeoutSeconds=1, **INITIAL),
        shaped("PartialObjectMetadata", CONFIG_MAPS, watch=1, timeoutSeconds=1, **INITIAL),
        watch(CONFIG_MAPS, **INITIAL | {"sendInitialEvents": "false", "resourceVersion": "{version}"}),
        watch(CONFIG_MAPS, resourceVersion="{version}", **INITIAL),
    ],
    "what cannot be asked together": [
        watch(CONFIG_MAPS, sendInitialEvents="true"),
        watch(CONFIG_MAPS, sendInitialEvents="true", allowWatchBookmarks="true"),
        watch(CONFIG_MAPS, resourceVersionMatch="NotOlderThan"),
        watch(CONFIG_MAPS, resourceVersionMatch="Exact"),
        watch(CONFIG_MAPS, **{"continue": "abc"}),
        watch(CONFIG_MAPS, resourceVersion="abc"),
        get(CONFIG_MAPS, watch="true", timeoutSeconds="abc"),
        watch(CONFIG_MAPS, labelSelector="a=("),
        watch(CONFIG_MAPS, fieldSelector="x=y"),
    ],
    "versions that are not there": [
        watch(CONFIG_MAPS, resourceVersion=1),
        watch(CONFIG_MAPS, resourceVersion=AHEAD),
    ],
}
