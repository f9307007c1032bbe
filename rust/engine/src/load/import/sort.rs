//! Events in their order, however many there are: sorted runs in temporary files, merged.

use perfq_core::load::audit::{Event, Written};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// So many runs are merged at once; each has a file and a buffer.
const MOST_RUNS: usize = 64;
const BUFFER: usize = 64 * 1024;

/// What an event takes in memory.
fn size(event: &Event) -> usize {
    let text = |text: &Option<Box<str>>| text.as_deref().map_or(0, str::len);
    let body = if let Written::Body(body) = &event.written { body.len() } else { 0 };
    let texts = [&event.generated, &event.object_name, &event.user_agent];
    size_of::<Event>()
        + event.audit_id.len()
        + event.uri.len()
        + event.verb.len()
        + body
        + texts.map(text).iter().sum::<usize>()
}

/// A sorted file without a name: nothing of it is left, however the process ends.
struct Run {
    file: BufReader<File>,
    record: Vec<u8>,
}

impl Run {
    fn write(folder: &Path, events: impl Iterator<Item = io::Result<Event>>) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(BUFFER, tempfile::tempfile_in(folder)?);
        let mut record = Vec::new();
        for event in events {
            record.clear();
            record = postcard::to_extend(&event?, record).map_err(io::Error::other)?;
            let length = u32::try_from(record.len()).map_err(io::Error::other)?;
            file.write_all(&length.to_le_bytes())?;
            file.write_all(&record)?;
        }
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Self { file: BufReader::with_capacity(BUFFER, file), record: Vec::new() })
    }

    fn next(&mut self) -> io::Result<Option<Event>> {
        let mut length = [0; 4];
        match self.file.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        self.record.resize(u32::from_le_bytes(length) as usize, 0);
        self.file.read_exact(&mut self.record)?;
        postcard::from_bytes(&self.record).map(Some).map_err(io::Error::other)
    }
}

/// Takes events in any order.
pub(super) struct Sorter {
    folder: PathBuf,
    memory: usize,
    events: Vec<Event>,
    used: usize,
    /// Runs by how often they were merged.
    runs: Vec<Vec<Run>>,
}

impl Sorter {
    /// Keeps at most `memory` bytes of events before it writes them to a file in `folder`.
    pub(super) fn new(folder: &Path, memory: usize) -> Self {
        Self { folder: folder.to_owned(), memory, events: Vec::new(), used: 0, runs: Vec::new() }
    }

    pub(super) fn push(&mut self, event: Event) -> io::Result<()> {
        self.used += size(&event);
        self.events.push(event);
        if self.used >= self.memory { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.events.sort_unstable();
        let run = Run::write(&self.folder, self.events.drain(..).map(Ok))?;
        self.used = 0;
        self.add(run, 0)
    }

    fn add(&mut self, run: Run, level: usize) -> io::Result<()> {
        if self.runs.len() == level {
            self.runs.push(Vec::new());
        }
        self.runs[level].push(run);
        if self.runs[level].len() < MOST_RUNS {
            return Ok(());
        }
        let merged = Run::write(&self.folder, Merge::new(std::mem::take(&mut self.runs[level]))?)?;
        self.add(merged, level + 1)
    }

    /// How many files were written and are still there.
    #[cfg(test)]
    fn spilled(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// All events in their order.
    pub(super) fn sorted(mut self) -> io::Result<Sorted> {
        if self.runs.is_empty() {
            self.events.sort_unstable();
            return Ok(Sorted::Memory(self.events.into_iter()));
        }
        if !self.events.is_empty() {
            self.spill()?;
        }
        // Its room is needed no more.
        self.events = Vec::new();
        Ok(Sorted::Files(Merge::new(self.runs.into_iter().flatten().collect())?))
    }
}

/// Events in their order.
pub(super) enum Sorted {
    Memory(std::vec::IntoIter<Event>),
    Files(Merge),
}

impl Iterator for Sorted {
    type Item = io::Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Memory(events) => events.next().map(Ok),
            Self::Files(merge) => merge.next(),
        }
    }
}

/// Several runs as one.
pub(super) struct Merge {
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<(Event, usize)>>,
}

impl Merge {
    fn new(mut runs: Vec<Run>) -> io::Result<Self> {
        let mut heads = BinaryHeap::with_capacity(runs.len());
        for (at, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next()?.map(|event| Reverse((event, at))));
        }
        Ok(Self { runs, heads })
    }
}

impl Iterator for Merge {
    type Item = io::Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((event, at)) = self.heads.pop()?;
        match self.runs[at].next() {
            Ok(next) => self.heads.extend(next.map(|event| Reverse((event, at)))),
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfq_core::load::audit::{Hops, Place, Stage, Whys};
    use proptest::prelude::*;

    fn event(received_ns: i64, id: u32, body: usize) -> Event {
        Event {
            received_ns,
            audit_id: format!("id-{id}").into(),
            uri: "/api/v1/pods".into(),
            verb: "create".into(),
            stage: Stage::ResponseComplete,
            stage_ns: received_ns + 5,
            status: Some(201),
            written: Written::Body("é".repeat(body).into()),
            generated: None,
            object_name: Some("name".into()),
            user_agent: None,
            hops: Hops::default(),
            whys: Whys::default(),
            place: Place { file: 0, line: u64::from(id) },
        }
    }

    fn sorted(events: &[Event], memory: usize) -> (Vec<Event>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(folder.path(), memory);
        for event in events {
            sorter.push(event.clone()).unwrap();
        }
        let files = sorter.spilled();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files have no names");
        (sorter.sorted().unwrap().collect::<io::Result<_>>().unwrap(), files)
    }

    #[test]
    fn a_few_events_need_no_file_and_many_few_files() {
        let events: Vec<Event> = (0..5_000).map(|i| event(i64::from(i * 7_919 % 5_003), i, 0)).collect();
        let mut expected = events.clone();
        expected.sort();
        assert_eq!(sorted(&events, usize::MAX), (expected.clone(), 0));
        // One file an event: 64 of them become one, and 64 of those again.
        let (all, files) = sorted(&events, 1);
        assert_eq!(all, expected);
        assert_eq!(files, 5_000 / 4_096 + 5_000 % 4_096 / 64 + 5_000 % 64);
    }

    #[test]
    fn a_folder_that_takes_no_file_is_an_error() {
        let mut sorter = Sorter::new(Path::new("/proc/no-such-folder"), 1);
        assert!(sorter.push(event(1, 1, 1)).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn however_small_the_memory_the_order_is_the_same(
            picks in prop::collection::vec((0_i64..50, 0_u32..9, 0_usize..40), 0..200), memory in 1_usize..20_000
        ) {
            let events: Vec<Event> = picks.iter().map(|(at, id, body)| event(*at, *id, *body)).collect();
            let mut expected = events.clone();
            expected.sort();
            prop_assert_eq!(sorted(&events, memory).0, expected);
        }
    }
}
