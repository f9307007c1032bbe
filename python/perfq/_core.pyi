"""The native module. All instants are CLOCK_MONOTONIC nanoseconds, as `time.monotonic_ns()` gives them."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, Self, TypedDict, final, type_check_only

__version__: str

@type_check_only
class Figures(TypedDict):
    """Exact nearest-rank figures; None where there are too few samples (p99: 100, p999: 1,000)."""

    count: int
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p999: int | None
    max: int | None

@type_check_only
class Build(TypedDict):
    """How this module was built. `commit` is None where the builder did not set PERFQ_COMMIT."""

    version: str
    commit: str | None
    profile: str
    rustc: str
    target: str

@type_check_only
class RecorderStatus(TypedDict):
    """What became of the lines so far."""

    lines: int
    bytes: int
    lost: int
    error: str | None

@final
class Plan:
    """A resolved workload: events drawn, hashes computed. Immutable."""

    def __new__(cls, profile_json: str) -> Plan:
        """Resolves a profile. ValueError lists every broken rule, one a line."""

    @staticmethod
    def violations(profile_json: str) -> list[tuple[str, str, str]]:
        """Broken rules as (dotted path, value seen, expectation); empty for a sound profile.

        ValueError when the text is not a profile at all (types, unknown keys).
        """

    def extended(self, seconds: int) -> Plan:
        """The same profile, longer by whole seconds; this plan's events are its prefix."""

    def emit(self, kind: str) -> bytes:
        """The canonical text: kind is profile, objects, events or final."""

    def emit_to(self, kind: str, fd: int) -> None:
        """Writes the canonical text to a file descriptor; OSError as the write gives it."""

    @property
    def profile_json(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def profile_hash(self) -> str: ...
    @property
    def object_hash(self) -> str: ...
    @property
    def event_hash(self) -> str: ...
    @property
    def final_hash(self) -> str: ...
    @property
    def objects(self) -> int: ...
    @property
    def events(self) -> int: ...
    @property
    def namespaces(self) -> int: ...
    @property
    def peak_rate(self) -> int: ...
    @property
    def duration_seconds(self) -> int: ...

@final
class Recorder:
    """samples.ndjson, written by a thread of its own and flushed every 250 ms."""

    def __new__(cls, path: str | PathLike[str]) -> Recorder:
        """Creates the file; FileExistsError where it exists."""

    def write(self, record_json: str) -> None:
        """Appends one line (given without its end). Never blocks."""

    def flush(self) -> None:
        """Returns once all that was written stands in the file."""

    def status(self) -> RecorderStatus: ...
    def close(self) -> RecorderStatus: ...

def build() -> Build:
    """Compiler, target, profile and, where it is known, the commit."""

@type_check_only
class TreeSample(TypedDict):
    """The last sample of a process tree or of the harness; None where it was never seen alive."""

    who: str
    alive: bool
    t: int | None
    cpu_ns: int | None
    rss: int | None
    rss_max: int | None
    procs: int | None

@type_check_only
class Pressure(TypedDict):
    """Stall totals since boot, in microseconds; None where the kernel does not say."""

    some_us: int | None
    full_us: int | None

@type_check_only
class HostPressure(TypedDict):
    """`/proc/pressure/*` of this machine."""

    cpu: Pressure
    memory: Pressure
    io: Pressure

@type_check_only
class HostFacts(TypedDict):
    """What this process may use and what it ran into; None where this machine does not say.

    `cpus` by affinity; `quota_millis` the tightest CPU quota of its cgroups in thousandths of a CPU (None:
    none); `throttled` periods and `throttled_ns` since the cgroups were made; `memory_limit` the tightest in
    bytes (None: none); `memory_used` without inactive page cache; `fds` open of `fd_limit` descriptors.
    """

    cpus: int | None
    quota_millis: int | None
    throttled: int | None
    throttled_ns: int | None
    memory_limit: int | None
    memory_used: int | None
    fds: int | None
    fd_limit: int | None
    psi: HostPressure

@type_check_only
class SamplerProgress(TypedDict):
    """What has been sampled: rounds, due instants missed, the longest round and latest start (ns), time asleep (ns)."""

    samples: int
    missed: int
    took_max_ns: int
    late_max_ns: int
    slept_ns: int
    trees: list[TreeSample]
    host: HostFacts | None

@final
class Sampler:
    """CPU and memory of process trees, sampled by a thread of its own on an absolute schedule."""

    @staticmethod
    def start(options: dict[str, Any]) -> Sampler:
        """Samples at once and then every `interval_ms`.

        `interval_ms`: 1 … 60,000, default 100. `trees`: a list of `{"who": name, "pid": root}`, with
        `"reaper": pid` where a child subreaper takes the tree's orphans (its other descendants are then of
        the tree, itself is not). A root that does not live is no error: it is never seen. `self`: the name
        under which this process alone is sampled, with HostFacts; None: not at all. `recorder`: a Recorder
        or None. `cpu_ns` never goes back: processes that end leave theirs. `rss` is a sum over processes, in
        which pages that they share count more than once. ValueError for unknown keys and bad values.
        """

    def progress(self) -> SamplerProgress:
        """So far: one entry a tree in the order of the options, then the harness."""

    def stop(self) -> SamplerProgress:
        """Takes a last sample and ends the thread; the same answer when called again."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exc: object) -> None: ...

@type_check_only
class ListComplete(TypedDict):
    """The latest LIST of one (kind, scope) that the client completed; t is its own instant."""

    kind: str
    scope: str
    objects: int | None
    t: int | None

@type_check_only
class Populated(TypedDict):
    """The first table of Pods that was whole."""

    t: int | None
    rows: int | None

@type_check_only
class ProbeDigest(TypedDict):
    """SHA-256 of the canonical text of the Pods that the client holds; table None where it has none."""

    store: str | None
    table: str | None
    t: int | None

@type_check_only
class ProbeProgress(TypedDict):
    """What a client has said (docs/reference/probe.md).

    `received` = passed by `rendered` + `unsettled`; `rendered` is what was passed less `coalesced` and
    `dropped`. `backlog` is the client's own latest word. `lost`: lines that the client could not send.
    `bad_lines`: not one JSON object of at most 64 KiB. `unrecorded`: counted here and not recorded, since
    they came faster than a disk takes them.
    """

    connected: int
    connections: int
    hello: dict[str, Any] | None
    interactive_ns: int | None
    populated: Populated | None
    lists: list[ListComplete]
    received: int
    rendered: int
    coalesced: int
    dropped: int
    unsettled: int
    backlog: int | None
    digest: ProbeDigest | None
    lost: int
    lines: int
    bad_lines: int
    unrecorded: int

@final
class ProbeListener:
    """Listens for clients that report from inside, on a Unix socket, with a thread of its own."""

    @staticmethod
    def start(options: dict[str, Any]) -> ProbeListener:
        """Makes the socket `path` (mode 0600, at most 107 bytes) and records each line in `recorder` (or None).

        OSError where the path exists; ValueError where it is too long and for unknown keys.
        """

    def progress(self) -> ProbeProgress: ...
    def stop(self) -> ProbeProgress:
        """Reads what clients had sent, ends the thread and removes the socket; may be called again."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exc: object) -> None: ...

@type_check_only
class ScreenText(TypedDict):
    """The screen between two frames."""

    lines: list[str]
    """Rows from top to bottom, blanks at their ends cut off."""
    cursor: tuple[int, int]
    """Row and column of the text cursor, from 0."""
    cursor_visible: bool
    alternate: bool
    """Whether the alternate buffer is shown."""
    title: str
    other: list[str]
    """The other buffer as it was left; empty where only one was ever used."""

@type_check_only
class ScreenHit(TypedDict):
    """A match on the screen."""

    t: int
    """Stamp of the first chunk after which the screen matched (at the call at the earliest)."""
    row: int
    """Row of the screen in which the match begins."""
    groups: list[str | None]
    """The whole match, then its groups."""

@type_check_only
class TableRow(TypedDict):
    """A row of the client's table."""

    row: int
    """Row of the screen, from 0."""
    key: tuple[str, str]
    """Namespace ("" where the table does not show it) and name of the object."""
    cells: dict[str, str]
    """Column, as the header has it, to the whole text of the cell."""
    cursor: bool

@type_check_only
class SeenCell(TypedDict):
    """A cell that showed what was expected of it."""

    i: int
    t: int
    """The chunk that made it the whole cell."""

@type_check_only
class Pressed(TypedDict):
    """What became of a key."""

    sent: int | None
    """When it was written; None where it was not."""
    seen: int | None
    """The chunk that showed the cursor on another object's row."""
    outcome: Literal["ok", "censored", "drifted", "failed"]
    """ok; censored: no effect in time; drifted: the selection moved, but not to the next row; failed: the
    client ended or does not read its input."""
    before: tuple[str, str] | None
    """The object under the cursor before; None where no cursor was seen."""
    after: tuple[str, str] | None

@type_check_only
class Resized(TypedDict):
    """What a change of size cost."""

    sent: int
    first: int | None
    """The first chunk after it."""
    filled: int | None
    """End of the first frame by which every row was drawn anew; None: a failed sample."""

@type_check_only
class ClientExit(TypedDict):
    """How the client ended. Both None where nobody knows (its supervisor was killed)."""

    t: int
    code: int | None
    signal: int | None

@type_check_only
class TerminalProgress(TypedDict):
    """Counts since the start, and states."""

    bytes: int
    chunks: int
    frames: int
    """Synchronized updates, and bursts of output outside of them that changed a cell."""
    redraws: int
    """Frames that erased the display or wrote at least nine tenths of it."""
    sync_timeouts: int
    """Synchronized updates that had not ended after 1 s."""
    exited: ClientExit | None
    """Set once the client ended, its tree is gone and all of its output was read."""
    unanswered: list[str]
    """Queries without an answer: a start time may contain their time-outs."""
    dropped_replies: int
    last_output_ns: int | None
    milestones: dict[str, int | None]
    trouble: str | None
    """What went wrong with the recording, the supervisor or the emulator."""

@type_check_only
class TerminalStopped(TypedDict):
    """How the client and its tree ended."""

    code: int | None
    signal: int | None
    killed: int | None
    """Descendants that had to be killed, the client itself not counted; None where the supervisor did not tell."""
    left: list[int]
    """Processes that outlived SIGKILL."""

def pattern_error(pattern: str) -> str | None:
    """Why the terminal engine cannot use this pattern (Rust's regex syntax); None where it can."""

def is_key(name: str) -> bool:
    """Whether `Terminal.key` knows this key."""

@final
class TerminalView:
    """How a client's screen is read: its table and its cursor. Compiled once; use one for each terminal."""

    def __new__(cls, options: dict[str, Any]) -> TerminalView:
        """`name` (text of the name column in the header), `namespace` (the same, or None), `required`
        (further columns that make a line the header), `row` (a pattern with the groups namespace and name,
        where columns do not tell), `cursor` (auto, reverse, background, marker, text or none), `marker`,
        `not_cursor` (a pattern: rows that are never the cursor's), `append` (lines are appended: the header
        may scroll away). ValueError for an unknown key or a wrong pattern (Rust's regex syntax).
        """

@final
class Terminal:
    """A program in a pseudo-terminal, read by a thread of its own; a context manager that stops it."""

    @staticmethod
    def start(options: dict[str, Any]) -> Terminal:
        """Starts the client and returns once it runs.

        `argv`, `env` (complete), `cwd`, `cols` and `rows` (1 … 1000), `supervisor` (its command), and where
        wanted `recorder`, `cast` (path of the asciicast, must not exist), `view` (a TerminalView),
        `milestones` (list of {name, pattern, rows}: recorded the first time that the screen matches the
        pattern and the view's table has so many rows).
        ValueError for a bad option; OSError with its errno where the program, the directory or the
        recording is the cause.
        """

    @property
    def pid(self) -> int:
        """The client's process."""

    @property
    def supervisor_pid(self) -> int:
        """The parent of the client and of whatever its tree orphaned: all below it is the client's."""

    def key(self, name: str) -> bytes:
        """A key in the encoding that the client asked for: a character, or `up`, `enter`, `ctrl+d`, `f5`, …"""

    def write(self, data: bytes) -> int:
        """Writes; the instant before the first byte was offered. BrokenPipeError where the client has ended,
        TimeoutError where it has not read its input for 5 s."""

    def screen(self) -> ScreenText:
        """The screen, between two frames."""

    def wait_screen(self, pattern: str, timeout_s: float) -> ScreenHit | None:
        """Waits for a pattern (Rust's regex syntax) over the rows joined by line feeds; None after the time,
        or once the client has ended without it."""

    def rows(self, view: TerminalView) -> list[TableRow]:
        """The table's rows; empty where no header is seen."""

    def cursor_row(self, view: TerminalView) -> TableRow | None:
        """The row under the cursor; None where it is not seen, or more than one row could be it."""

    def expect_cell(self, i: int, key: tuple[str, str], column: str, text: str, view: TerminalView) -> None:
        """From now on looks, after each chunk, whether the cell of that object's row is exactly the text; the
        first such chunk is recorded as `cell`."""

    def seen_cells(self) -> list[SeenCell]:
        """Cells seen since the last call."""

    def forget_cell(self, i: int) -> bool:
        """Does not look for it any more. Whether it was still looked for."""

    def press(self, key: bytes, direction: Literal["down", "up"], view: TerminalView, timeout_s: float) -> Pressed:
        """Writes a key that moves the cursor, and waits until it stands on the next row's object. Replies to
        the client's queries go first."""

    def resize(self, cols: int, rows: int, timeout_s: float) -> Resized:
        """Changes the size (SIGWINCH) and waits for the frame that fills it."""

    def progress(self) -> TerminalProgress: ...
    def stop(self, grace_s: float = 2.0) -> TerminalStopped:
        """SIGTERM, after the grace SIGKILL, then every descendant. The last screen stays readable."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_args: object) -> None: ...

@type_check_only
class Committed(TypedDict):
    """A commit: its instant (CLOCK_MONOTONIC ns) and resourceVersion."""

    t: int
    rv: int

@type_check_only
class ChurnProgress(TypedDict):
    """Where the plan's events stand. state: waiting, running, ended (the plan's duration has passed)."""

    state: str
    t0_ns: int | None
    committed: int
    skipped: int
    planned: int
    last_commit_ns: int | None
    max_lag_ns: int | None

@type_check_only
class WatchProgress(TypedDict):
    """One watch. events: commits whose write to it has returned; bytes: all that was written to it."""

    w: int
    group: str
    kind: str
    scope: str
    open: bool
    ua: str
    conn: int
    events: int
    bytes: int
    opened_ns: int

@type_check_only
class ListProgress(TypedDict):
    """LISTs of a scope that were read to their last page. objects: in the last one."""

    group: str
    kind: str
    scope: str
    chains_complete: int
    last_complete_ns: int | None
    objects: int

@type_check_only
class FaultProgress(TypedDict):
    """How often a failure was injected, and how many requests or watches met it."""

    injected: int
    exercised: int

@type_check_only
class ServerProgress(TypedDict):
    """All that can be read while the server runs.

    faults by kind; totals: the accounting (docs/reference/api-server.md).
    """

    churn: ChurnProgress
    watches: list[WatchProgress]
    lists: list[ListProgress]
    faults: dict[str, FaultProgress]
    totals: dict[str, Any]

@final
class ApiServer:
    """The embedded Kubernetes API server, in this process and on threads of its own."""

    @staticmethod
    def start(options: dict[str, Any]) -> ApiServer:
        """Binds, fills the store from the plan, and serves.

        `plan`: a Plan. `recorder`: a Recorder or None. `listen`: an address, default 127.0.0.1; `port`:
        default 0, any free one. `tls`: HTTPS with a CA and token of its own (default), else plain HTTP,
        which is for loopback alone. `start`: when the plan's clock starts: manual (default), watch (with
        the first Pod WATCH), now, never. `pod_bytes`: pads each planned Pod. `limit_bytes_per_second`,
        `limit_requests_per_second`: serves no faster, None for no limit. `metrics`: metrics.k8s.io.
        OSError for a port in use; ValueError for unknown keys and bad values.
        """

    @property
    def url(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def ca_pem(self) -> str | None:
        """The CA certificate; None over plain HTTP."""

    @property
    def token(self) -> str | None:
        """The bearer token; None over plain HTTP."""

    def start_churn(self) -> int:
        """Starts the plan's clock, once, and returns its zero (CLOCK_MONOTONIC ns, a few ms ahead)."""

    def extend(self, seconds: int) -> None:
        """The plan becomes plan.extended(seconds) and its stream goes on.

        ValueError once the churn has ended, or where the longer plan breaks a rule.
        """

    def probe(self, i: int, ns: str, name: str, number: int) -> Committed | None:
        """Commits a MODIFIED whose restart count is `number`; None where the plan has no such Pod, or it is gone."""

    def restore(self, i: int, ns: str, name: str) -> Committed | None:
        """Commits a MODIFIED with the plan's values again; None where the plan has no such Pod, or it is gone."""

    def progress(self) -> ServerProgress: ...
    def digest(self) -> str:
        """SHA-256 of the canonical text of the plan's Pods as they are stored now."""

    def stop(self) -> None:
        """Ends churn, watches and connections. A second call does nothing."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exc: object) -> None: ...

def quantiles(values: Sequence[int]) -> Figures:
    """Exact nearest-rank figures of integers."""

def fnv1a64(key: str) -> int:
    """FNV-1a-64 of the key's UTF-8 bytes."""

def partition(key: str, runners: int) -> int:
    """The runner, 0 … runners − 1, that owns the key."""

def downsample(points: Sequence[tuple[int, int]], slices: int) -> list[tuple[int, int]]:
    """At most 2 × slices points of a series sorted by x; the extremes of each slice survive."""

def monotonic_ns() -> int:
    """CLOCK_MONOTONIC, now."""
