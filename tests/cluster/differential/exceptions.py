"""Where the embedded server differs from kube-apiserver on purpose. What is not listed here is a mistake.

Each reason is the beginning of a row of the table "Where it differs" in docs/reference/api-server.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.cluster.differential.comparison import ABSENT, Difference

#: All of an answer.
ALL = r"status|headers\..*|body.*"
#: What is said to people, of the first thing that is wrong.
WORDS = r"body\.message|body\.details\.causes\[0\]\.message"
#: One object: alone, of a list, of a row, of an event.
OBJECT = r"body(\[\d+\]\.object)?(\.items\[\d+\])?(\.rows\[\d+\]\.object)?"
OWNED = rf"{OBJECT}\.metadata\.managedFields\[\d+\]\.fieldsV1"


@dataclass(frozen=True)
class Meant:
    """Differences that are meant: why, in which fields and of which requests (both regular expressions)."""

    why: str
    fields: str
    requests: str = ""
    #: Only where this one has nothing there.
    lacks_it: str = ""
    #: Only where this is in what the real server says there.
    said: str = ""

    def covers(self, request: str, difference: Difference) -> bool:
        """Whether it is about this difference of the answers to this request."""
        lacking = {"embedded": difference.embedded, "real": difference.real}
        return (
            re.fullmatch(self.fields, difference.path) is not None
            and re.search(self.requests, request) is not None
            and lacking.get(self.lacks_it, ABSENT) == ABSENT
            and re.search(self.said, str(difference.real)) is not None
        )


#: Words of Go's libraries, names of its types, of scheme, storage and log.
GO = (
    r"json: |JSON input|invalid character|illegal base64|quantities must match|registered for version|"
    r"unknown conversion|error converting YAML|StorageError|map\[|\n@@ |Invalid value: \"\{|"
    r"accepted media types include: application/json, application/yaml|continue token"
)
NO_CONTROLLERS = "No controllers, no admission"
IMMEDIATE = "Deletion is immediate"
DEFAULTS = "Of the defaults, those that clients look at"
RULES = "Checked are types, unknown fields"
OWN_WORDS = "What cannot be read is refused in perfq's own words"
JSON_ALONE = "Answers are JSON alone"
MANAGED = "`managedFields` name the fields that were set"
SUBRESOURCES = "`log` and `status` are the only subresources"
TOKENS = "A continue token belongs to one path"
VERSIONS = "Versions start from the clock"

LOOSE = r"body(\.items\..*)?\.(groups|resources|subresources|paths|items)\.[^\[]+"
NOTHING = r"f:status\.f:nodeInfo\.f:\w+|f:eventTime|f:reporting\w+|f:source"
GENERATED = r"metadata\.labels.*|spec\.(selector|manualSelector|template\.metadata.*)"
UNKNOWN_SHAPE = r"\((application/\*|text/html|rubbish|.*as=Chair.*|.*;v=v9;g=meta.k8s.io)\)"
REVISED = rf"{OBJECT}\.metadata\.annotations|{OWNED}\.f:metadata(\.f:annotations)?"

MEANT = [
    Meant("`/version` names perfq", r"body\.(git\w+|goVersion|compiler|buildDate)", "^GET /version$"),
    Meant("An unknown path is a `Status`", ALL, r"^GET /(nothing|apis/none.*)$"),
    Meant("Kinds, groups, versions and paths that are not", LOOSE, r"^GET /(apis?(/.*)?)?( |$)", "embedded"),
    Meant("metrics.k8s.io is served", r"body\.(groups|paths|items)\.(/apis/)?metrics\.k8s\.io.*", lacks_it="real"),
    Meant("aggregated discovery is served in `v2beta1`", ALL, "v=v2beta1;as=APIGroupDiscoveryList"),
    Meant("Descriptions are perfq's own", r"body(\[\d+\]\.object)?\.columnDefinitions\[\d+\]\.description"),
    Meant(JSON_ALONE, rf"{WORDS}|body\.details", UNKNOWN_SHAPE),
    Meant(JSON_ALONE, ALL, r"\(application/(yaml|vnd.kubernetes.protobuf.*)\)"),
    Meant(MANAGED, rf"{OWNED}.*\.\.", lacks_it="embedded"),
    Meant(MANAGED, rf"{OWNED}\.({NOTHING})", "(nodes|events)", "real"),
    Meant(MANAGED, rf"{OWNED}\.f:spec\..*f:metadata", "(cron)?jobs", "real"),
    Meant(MANAGED, r"body\.metadata\.managedFields", "POST .*selfsubjectaccessreviews", "embedded"),
    Meant(NO_CONTROLLERS, rf"{OBJECT}\.spec\.taints", "/nodes", "embedded"),
    Meant(NO_CONTROLLERS, rf"{OBJECT}\.spec\.(clusterIPs?|ipFamil\w+)", "/services", "embedded"),
    Meant(NO_CONTROLLERS, r"body\.rows\[0\]\.cells\[2\]", "/services"),
    Meant(NO_CONTROLLERS, rf"{OBJECT}\.({GENERATED})", "/jobs", "embedded"),
    Meant(NO_CONTROLLERS, rf"{OWNED}\.f:spec\.f:manualSelector", "/jobs", "embedded"),
    Meant(NO_CONTROLLERS, r"body\.rows\[0\]\.cells\[7\]", "/jobs"),
    Meant(NO_CONTROLLERS, r"body(\.items\[4\])?\.status\.phase", "(POST|GET) /api/v1/namespaces/{namespace}/pods$"),
    Meant(DEFAULTS, REVISED, "/daemonsets", "embedded"),
    Meant(IMMEDIATE, r"body\.metadata\.(generation|deletion\w+)", "^DELETE .*/pods/"),
    Meant(OWN_WORDS, WORDS, said=GO),
    Meant("A key that is twice in a JSON body", r"headers\.Warning", "^POST .*/configmaps$", "embedded"),
    Meant("Nothing is deprecated", r"headers\.Warning", "(/endpoints|^DELETE .*/jobs/)", "embedded"),
    Meant(SUBRESOURCES, ALL, "/(exec|eviction|scale)$"),
    Meant(RULES, r"body\.details\.causes\[1\]", "^PATCH .*/configmaps/m$", "embedded"),
    Meant(TOKENS, ALL, "^GET /api/v1/nodes.*continue="),
    Meant(TOKENS, r"body\.metadata\.continue", "(label|field)Selector=", "embedded"),
    Meant(VERSIONS, WORDS, said=r"current: \d+|in record \(\d+\)"),
    Meant(VERSIONS, ALL, r"resourceVersion=1(&|$)"),
    Meant(VERSIONS, ALL, "watch=1.*resourceVersion=999999999999999999"),
    Meant("A watch ends with a bookmark", r"body(\[\d+\])?", "watch=1.*allowWatchBookmarks=true", "real"),
    Meant("The token may do everything", r"body\.status\..*", "^POST .*/selfsubject(access|rules)reviews$"),
]
