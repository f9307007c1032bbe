"""The native module. All instants are CLOCK_MONOTONIC nanoseconds, as `time.monotonic_ns()` gives them."""

from collections.abc import Callable, Sequence
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

@type_check_only
class MixRequest(TypedDict):
    """One drawn request. `due_us` counts from T0 and is None in a closed loop; path and query are raw."""

    due_us: int | None
    verb: str
    path: str
    query: str | None
    content_type: str | None
    body: bytes | None
    key: str | None
    user_agent: str | None
    headers: list[tuple[str, str]]
    until_initial_bookmark: bool

@final
class Mix:
    """A load profile's spec, resolved (the core's MixSpec), and the requests drawn from it. Immutable."""

    def __new__(cls, spec_json: str) -> Mix:
        """Checks a spec. ValueError where it cannot be drawn from, and for unknown fields."""

    def plan(self, runner: int) -> tuple[int | None, int | None]:
        """Of one runner: how many requests it will send, and the end in microseconds from T0.

        The count is None where only time ends a closed loop, the end is None in every closed loop. The end is
        that of the stages, or where the request after the last would be due. Poisson arrivals are drawn to tell.
        """

    def requests(self, runner: int, runners: int, limit: int) -> list[MixRequest]:
        """The first `limit` requests of runner `runner` of `runners`, in the order of their due instants."""

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
class Histogram:
    """Non-negative integers in log-linear buckets: counts are exact, values within 0.1 %. Not thread-safe."""

    def __new__(cls) -> Histogram: ...
    def record(self, value: int) -> None:
        """Adds one value, below 2**64."""

    def merge_json(self, text: bytes) -> None:
        """Adds what stands in a record (`latency.response` of a `load_slice`). ValueError where it is no histogram."""

    def merge(self, other: Histogram) -> None:
        """Adds all that another one holds."""

    @property
    def count(self) -> int: ...
    @property
    def max(self) -> int | None:
        """The largest value, exact."""

    @property
    def min(self) -> int | None: ...
    @property
    def sum(self) -> int: ...
    def quantile(self, num: int, den: int) -> int | None:
        """The value at the nearest rank of num/den; None where it is empty."""

    def figures(self) -> Figures:
        """The published figures: p99 from 100 values on, p999 from 1,000."""

    def to_json(self) -> str:
        """As a record has it."""

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
class TreeSamplerProgress(TypedDict):
    """What has been sampled: rounds, due instants missed, the longest round and latest start (ns), time asleep (ns)."""

    samples: int
    missed: int
    took_max_ns: int
    late_max_ns: int
    slept_ns: int
    trees: list[TreeSample]
    host: HostFacts | None

@final
class TreeSampler:
    """CPU and memory of process trees, sampled by a thread of its own on an absolute schedule."""

    @staticmethod
    def start(options: dict[str, Any]) -> TreeSampler:
        """Samples at once and then every `interval_ms`.

        `interval_ms`: 1 … 60,000, default 100. `trees`: a list of `{"who": name, "pid": root}`, with
        `"reaper": pid` where a child subreaper takes the tree's orphans (its other descendants are then of
        the tree, itself is not). A root that does not live is no error: it is never seen. `self`: the name
        under which this process alone is sampled, with HostFacts; None: not at all. `recorder`: a Recorder
        or None. `cpu_ns` never goes back: processes that end leave theirs. `rss` is a sum over processes, in
        which pages that they share count more than once. ValueError for unknown keys and bad values.
        """

    def progress(self) -> TreeSamplerProgress:
        """So far: one entry a tree in the order of the options, then the harness."""

    def stop(self) -> TreeSamplerProgress:
        """Takes a last sample and ends the thread; the same answer when called again."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exc: object) -> None: ...

@type_check_only
class SamplerAcknowledged(TypedDict):
    """How far a pause has come. Instants in ns.

    `acknowledged`: no read of the session is in flight, and none begins before it is resumed; `at`: since when (None:
    not yet). `leaked`: a read had not returned by the drain timeout and may still be in flight, which the session's
    outcome keeps. `asked`: when the pause was asked for first.
    """

    session: int
    acknowledged: bool
    leaked: bool
    asked: int
    at: int | None

@type_check_only
class SamplerCounters(TypedDict):
    """The kernel's own totals of a session's cgroup after its stop; None where there are none."""

    memory_peak: int | None
    cpu_ns: int | None
    oom: int | None
    oom_kill: int | None
    swap: int | None
    swap_peak: int | None
    io_read: int | None
    io_write: int | None
    psi: HostPressure | None

@type_check_only
class SamplerEnd(TypedDict):
    """How the measurement of a session ended.

    `outcome`: None (reads are still awaited), drained, error (a read failed that was not expected to, or the process
    or cgroup vanished before the stop) or leaked (a read had not returned by the drain timeout); `why` of the last two.
    `stopped`: no sample is later. `due`: samples taken, and one for each whole period that passed between a due
    instant and the begin of its read; `longest_gap_ns` without a completed sample, pauses aside.
    """

    session: int
    outcome: Literal["drained", "error", "leaked"] | None
    why: str | None
    stopped: int | None
    due: int
    taken: int
    longest_gap_ns: int
    counters: SamplerCounters | None

@type_check_only
class SamplerLast(TypedDict):
    """The last sample of a session; None where there is none, or its kernel does not say."""

    session: int
    state: Literal["waiting", "reading", "paused", "draining", "ended"]
    t: int | None
    memory: int | None
    inactive_file: int | None
    rss: int | None
    error: str | None

@type_check_only
class SamplerFigures(TypedDict):
    """What a sampler has done so far.

    `attached` sessions, and how many have ended as `drained`, `errors` and `leaked`. Reads `in_flight` and the most at
    once; `waiting_max`: the most samples that were due at once beside the one just begun; `discarded` reads whose
    result came too late to count. `due`, `taken`, `longest_gap_ns`: of all sessions; `coverage_ppm`: taken / due.
    `queue_ns`: from the due instant to the begin of the read, `read_ns`: to its end, `write_ns`: to its line in the
    file; within 0.1 %. `cpu_ns` of the threads that read (None: inline). `lines` in the file and those `lost` to
    `error`, the first write error.
    """

    attached: int
    drained: int
    errors: int
    leaked: int
    in_flight: int
    in_flight_max: int
    waiting_max: int
    discarded: int
    due: int
    taken: int
    longest_gap_ns: int
    coverage_ppm: int | None
    queue_ns: Figures
    read_ns: Figures
    write_ns: Figures
    cpu_ns: int | None
    lines: int
    lost: int
    error: str | None

@final
class Sampler:
    """Samples many sessions by their cgroups and processes, from a few threads of its own.

    Nothing else runs on those threads, and a call waits for a read only where it says so. At most one read of a session
    is in flight; its next sample is due `delay_after_ms` after the last one was complete; first samples are spread
    over one period. All calls may come from any thread.
    """

    @staticmethod
    def start(options: dict[str, Any]) -> Sampler:
        """Creates the file and starts the threads.

        `path`: the file that samples are appended to (docs/reference/samples.md), which must not exist; None: none is.
        `mode`: isolated (default) or inline (no threads: `sample` reads on the thread that calls it). `workers`: how
        many threads read, 1 … 64, default 4. `delay_after_ms` 500. `drain_timeout_ms` 10,000. `sources`: of cgroup,
        psi, proc (the default) and smaps_rollup, which stalls its process about 10 ms for each GiB: it is read with
        every `smaps_every`-th sample (20) where no more than `smaps_limit_bytes` (1 GiB) are resident. On purpose:
        `inject_read_delay_ms` makes each sample slow; `inject_hangs`, a list of {"session", "at", "ms"}, makes one
        read hang: `at` is start (its first), middle (its third) or stop (that of the kernel's totals).
        OSError where the file cannot be created; ValueError for unknown keys and bad values.
        """

    def attach(
        self,
        session: int,
        *,
        pid: int | None = None,
        cgroup: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    ) -> int:
        """Samples a session from now on; returns when its first sample is due (ns).

        `cgroup`: the group's folder in one hierarchy or its path in all of them; where its path differs between v1
        hierarchies, a folder for each. Without one, the groups of `pid` are read, except those that hold this process
        too. `pid` is also read itself, and known by its start: a later process of that pid is not taken for it.
        ProcessLookupError, FileNotFoundError: there is no such process or group. ValueError: neither is given, the
        number was attached before, or the sampler is closed.
        """

    def pause(self, session: int, *, wait_ms: int | None = None) -> SamplerAcknowledged:
        """STOP: no read of this session begins from now on.

        Waits for the read in flight, at most `wait_ms` (None: `drain_timeout_ms`, after which it is leaked). With 0 it
        returns at once; ask again until it is acknowledged or leaked. Releases the GIL. ValueError: not attached.
        """

    def resume(self, session: int) -> int | None:
        """CONT: returns when the next sample is due (ns); None: none will come, since the measurement has ended."""

    def sample(self, session: int) -> int | None:
        """Takes a sample of this session on the calling thread, in mode inline alone (else ValueError).

        Returns when the next one is due (ns); None while the session is paused, and once it has ended. A read error is
        no exception: it ends the measurement.
        """

    def drain(self, session: int, *, wait_ms: int | None = None) -> SamplerEnd:
        """Ends the measurement of a session: awaits its read in flight, then reads the kernel's totals.

        Call it before the process or the group is removed. Waits at most `wait_ms` (None: `drain_timeout_ms`, after
        which it is leaked); with 0 it returns at once; ask again until there is an outcome. Releases the GIL.
        """

    def last_samples(self) -> list[SamplerLast]:
        """Of every session that was attached, by number."""

    def figures(self) -> SamplerFigures: ...
    def close(self) -> SamplerFigures:
        """Drains all that is still attached, ends the threads, and says what was done; the same when called again.

        A thread whose read has not returned by the drain timeout is left behind, and what it reads is not written.
        """

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

@type_check_only
class LoadFailure(TypedDict):
    """Why a run has no result, or not all of it, in one sentence.

    `class`: refused, unreachable, tls, protocol, unauthorised, timeout (all before T0), streams (more are needed
    than connections may be opened for), input (what is to be sent is wrong), internal (a bug).
    """

    text: str

@type_check_only
class LoadProgress(TypedDict):
    """How far a run has come; counts are those of the segment that runs, up to its last full second.

    `state`: warming, running, draining, ended, failed. `t0`, `end_ns` (after T0), `planned` and `requested_rate` are
    None where they are not known (yet). `rate`: sent in the last full second. `lag_ns`: p99 of the last full second
    with 100 requests, else the largest. `in_flight`, `watches` and `waiting` (come and not sent) are of now.
    `failure` is a LoadFailure with its `class`.
    """

    state: Literal["warming", "running", "draining", "ended", "failed"]
    segment: int
    segments: int
    t0: int | None
    elapsed_ns: int
    end_ns: int | None
    planned: int | None
    sent: int
    rate: int
    requested_rate: float | None
    ok: int
    errors: dict[str, int]
    timed_out: int
    late: int
    retries: int
    bytes: int
    lag_ns: int | None
    in_flight: int
    watches: int
    waiting: int
    stopped: str | None
    failure: dict[str, str] | None

@type_check_only
class LoadResult(TypedDict):
    """The `load_end` records of the segments that have ended (docs/reference/samples.md)."""

    segments: list[dict[str, Any]]
    stopped: str | None
    failure: dict[str, str] | None

@final
class LoadRun:
    """Sends planned requests on their schedule, from threads of its own."""

    @staticmethod
    def start(options: dict[str, Any]) -> LoadRun:
        """Checks the options and begins to warm up; whether the target answers is told by `progress`.

        `recorder`: a Recorder or None. `endpoint`: `url` (http or https; its path is kept before every path once),
        `ca_pem`, `insecure`, `client_cert_pem`, `client_key_pem`, `token`, `server_name`, `headers` (a mapping).
        `segments`, each with a T0 of its own: `source` ({"trace": {"path": …, "allow_unknown":
        False, "rewrite": as for load_open}} or {"mix": MixSpec}), `runners`,
        `runner_index` (None: all), `connections` and `in_flight` (of each runner), `protocol` (http2, http1),
        `accept` (json, protobuf), `max_retries` (of a 429 with Retry-After), `duration_us` (the planned end; None:
        the last due instant or the end of the last watch), `rate` (of each runner; 0: a closed loop; None: as the
        source says). `timeout_ms` 60,000, `watch_timeout_ms` (of a watch's silence; None: the same), `grace_ms` 30,000,
        `warm_up_ms` 30,000, `overload` (queue, drop), `ordering` (object, none, strict), `raw_data` (a path or None),
        `user_agent`.
        ValueError for unknown keys, bad values, and a source that cannot be read or is none.
        """

    def progress(self) -> LoadProgress: ...
    def stop(self, why: str) -> None:
        """Sends nothing more; what is in flight has a few seconds. The first reason counts."""

    def set_token(self, token: str) -> None:
        """Another bearer token, from the next request on."""

    def wait(self, timeout_s: float) -> bool:
        """Whether the run has ended, after waiting so long for it. Releases the GIL; signals are not handled."""

    def result(self) -> LoadResult: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exc: object) -> None:
        """Stops the run and waits for its threads; the object is of no use afterwards."""

@type_check_only
class InputWarning(TypedDict):
    """Something in a file of requests that was let through."""

    line: int | None
    """The first line that gave it."""
    text: str
    count: int

@type_check_only
class InputLoss(TypedDict):
    """Something that was lost, guessed or repaired on the way from a recording to the requests."""

    loss: str
    """A short name, the same for all of one kind."""
    count: int
    text: str

@type_check_only
class RequestCounts(TypedDict):
    """How many requests. Watches without a length live as long as the run."""

    requests: int
    verbs: dict[str, int]
    body_bytes: int
    endless_watches: int
    span_us: int

@type_check_only
class LoadNeeds(TypedDict):
    """What a target must have before requests are sent. Each list ends after 1,000 entries."""

    namespaces: list[str]
    """Written into before they are created."""
    service_accounts: list[dict[str, str]]
    """Of Pods that are created, default apart: namespace and name."""
    custom_resources: list[dict[str, str]]
    """group, version and resource, asked for before they are defined."""

@type_check_only
class LoadInput(TypedDict):
    """A file of requests, read to its end."""

    format: Literal["trace", "kperf-replay"]
    packing: Literal["plain", "gzip", "zstd"]
    source: dict[str, Any]
    """What a trace was made from; empty for a replay profile."""
    description: str | None
    spec: dict[str, Any] | None
    """runnerCount, connsPerRunner, clientsPerRunner (never 0), contentType, disableHTTP2: of a replay profile,
    also of one that was made into a trace."""
    digest: str
    """SHA-256 of a trace's lines after its header, or of a profile's text, unpacked."""
    planned: int
    last_due_us: int
    span_us: int
    """The last due instant or the end of the last watch with a length."""
    counts: RequestCounts
    needs: LoadNeeds
    warnings: list[InputWarning]
    losses: list[InputLoss]

@type_check_only
class LoadConverted(LoadInput):
    """A file that was made into a trace."""

    header: dict[str, Any]

@type_check_only
class RunnerShare(TypedDict):
    """A runner's requests."""

    index: int
    requests: int

@type_check_only
class KeyShare(TypedDict):
    """The requests on one key, namespace/kind/name."""

    key: str
    requests: int

@type_check_only
class LoadShares(TypedDict):
    """How the requests of a file are shared among runners. imbalance_percent: (max / mean - 1) * 100."""

    runners: list[RunnerShare]
    min: int
    max: int
    imbalance_percent: float
    hot_keys: list[KeyShare]
    hot_keys_missed: int
    """By how much a hot key's requests may be too low: 0 up to 131,072 keys, which are counted exactly."""

def load_detect(
    path: str | PathLike[str],
) -> tuple[
    Literal["trace", "kperf-replay", "kperf-replay-group", "kperf-load", "kperf-load-group", "audit-log", "unknown"],
    Literal["plain", "gzip", "zstd"],
]:
    """What a file is and how it is packed, told by its content. OSError where it cannot be read."""

def load_open(path: str | PathLike[str], options: dict[str, Any] | None = None) -> LoadInput:
    """Reads a perfq trace or a kperf replay profile to its end, and checks every request.

    `allow_unknown`: unknown keys are warnings instead of errors. `rewrite`: a mapping; what is then counted is what
    is left: `speed` (1.0), `from_us` and `until_us` (the window; None: to the end), `only` and `skip` (verbs in
    capitals and resources like pods, deployments.apps, pods/status), `namespaces` (recorded name to name; "*" for
    all others), `name_prefixes`, `keep_versions` (False: resourceVersions keep their class, uids
    and later pages go). ValueError "FILE:LINE: what is wrong", for a file that cannot be read too.
    KeyboardInterrupt is heeded.
    """

def load_convert(
    src: str | PathLike[str], dst: str | PathLike[str], options: dict[str, Any] | None = None
) -> LoadConverted:
    """Writes a trace with the requests of `src`, packed where the name of `dst` ends in .gz or .zst.

    `dst` must not exist, and does only once it is whole. Options and errors as for load_open.
    """

def load_plan(
    path: str | PathLike[str], runners: int, options: dict[str, Any] | None = None, hot_keys: int = 10
) -> LoadShares:
    """Counts the requests of each of `runners` runners, and those on the hottest keys. As load_open."""

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

@type_check_only
class ImportedFile(TypedDict):
    """A file of an audit log: its name without the folder, its length and SHA-256 as it is on disk."""

    name: str
    bytes: int
    sha256: str

@type_check_only
class ImportedWindow(TypedDict):
    """The time that a trace shows: instants in RFC 3339."""

    since: str
    until: str
    duration_us: int

@type_check_only
class ImportLoss(TypedDict):
    """A reason why something is not in the trace, or not as it was sent.

    `of` is file, line, event, request (not in the trace) or change (in the trace, but changed); `first` is where the
    first one stands, as FILE:LINE.
    """

    why: str
    count: int
    of: str
    first: str
    text: str

@type_check_only
class Imported(TypedDict):
    """What an import came to: events = requests + stages + losses of events and of requests."""

    requests: int
    events: int
    stages: int
    lines: int
    files: list[ImportedFile]
    window: ImportedWindow | None
    losses: list[ImportLoss]

def load_import(
    paths: Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    options: dict[str, Any],
    progress: Callable[[int, int, int], object] | None = None,
) -> Imported:
    """Writes the trace `out` (packed as its name says: .zst, .gz, else plain) from the files of an audit log.

    Options: `without_body` (`drop`, the default, or `synthetic`), `hash_names`, `keep_query`, `only_users`,
    `skip_users` (names, which may end in `*`), `since` and `until` (RFC 3339), `memory_bytes` (sorted in memory, 64 MiB
    by default; more goes to temporary files beside `out`). `progress` is called some ten times a second with the bytes
    that were read, the bytes of all files (without pipes) and the requests that were written.

    ValueError: a file that cannot be read, `out` exists, a bad option, a log without a request. OSError where the
    temporary files fail. Signals are handled while it works; an exception that a handler raises stops it, and nothing
    is left.
    """

def load_import_reasons() -> list[tuple[str, str, str]]:
    """Every reason by which an import loses or changes something: its name, what is counted, what it means."""
