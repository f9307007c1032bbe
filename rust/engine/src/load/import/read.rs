//! All files of a log, read once: what they are, how long they span, and their events, to be sorted.

use super::cut_lines::{CutLines, LONGEST, Piece};
use super::log_file::{LogFile, OpenLog, Seen};
use super::log_lines::{LogLine, LogLines};
use super::outcome::{Imported, ImportedFile, ImportedWindow, LossSeen};
use super::sort::{Sorted, Sorter};
use super::{Control, ImportError, Options};
use crate::load::readers::reason;
use perfq_core::digest::sha256;
use perfq_core::load::audit::{Event, Extent, Losses, Of, Place, Reading, Unframed, Unframer, Why, Window};
use std::io::{self, BufRead};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A longer line is passed over and counted. An event at level `RequestResponse` holds a whole LIST.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// What was read.
pub(super) struct Log {
    files: Vec<(String, Seen)>,
    lines: u64,
    events: u64,
    pub(super) extent: Extent,
    pub(super) losses: Losses,
    sorter: Option<Sorter>,
}

/// What the lines of one file come to, before it is known whether its first and last one belong to others.
#[derive(Default)]
struct Ends {
    head: Option<Piece>,
    /// One of each stream at most.
    tails: Vec<Piece>,
    first_stage_ns: Option<i64>,
    last_stage_ns: Option<i64>,
}

/// What reading needs beside the file.
struct Reader<'a> {
    reading: &'a Reading,
    folder: &'a Path,
    control: &'a Arc<Control>,
    log: Log,
}

impl Log {
    /// Reads the files, which are in order; temporary files are in `folder`.
    pub(super) fn read(
        files: &[LogFile],
        folder: &Path,
        options: &Options,
        control: &Arc<Control>,
    ) -> Result<Self, ImportError> {
        let reading = Reading {
            keep_query: options.keep_query.clone(),
            only_users: options.only_users.clone(),
            skip_users: options.skip_users.clone(),
        };
        let log = Self {
            files: Vec::new(),
            lines: 0,
            events: 0,
            extent: Extent::default(),
            losses: Losses::default(),
            sorter: Some(Sorter::new(folder, options.memory_bytes)),
        };
        let mut reader = Reader { reading: &reading, folder, control, log };
        let mut cut = CutLines::default();
        for (file, number) in files.iter().zip(0..) {
            let ends = reader.file(file, number)?;
            cut.heads.extend(ends.head.map(|head| Piece { beside_ns: ends.first_stage_ns, ..head }));
            cut.tails.extend(ends.tails.into_iter().map(|tail| Piece { beside_ns: ends.last_stage_ns, ..tail }));
        }
        for event in cut.join(&reading, &mut reader.log.losses) {
            reader.event(event)?;
        }
        Ok(reader.log)
    }

    /// A digest of all files' bytes that tells nothing to those who have not the files.
    pub(super) fn secret(&self) -> [u8; 32] {
        let mut all: Vec<&str> = self.files.iter().map(|(_, seen)| &*seen.secret).collect();
        all.sort_unstable();
        sha256(all.concat().as_bytes())
    }

    /// The events in their order.
    pub(super) fn sorted(mut self) -> io::Result<(Self, Sorted)> {
        let events = self.sorter.take().ok_or_else(|| io::Error::other("the events were taken before"))?.sorted()?;
        Ok((self, events))
    }

    /// The sum of what was read and what came of it.
    pub(super) fn imported(&self, window: Option<Window>, requests: u64, stages: u64, losses: &Losses) -> Imported {
        let name = |place: Place| {
            let file = usize::try_from(place.file).ok().and_then(|file| self.files.get(file));
            format!("{}:{}", file.map_or("?", |(name, _)| name), place.line)
        };
        let file = |(name, seen): &(String, Seen)| ImportedFile {
            name: name.clone(),
            bytes: seen.bytes,
            sha256: seen.sha256.clone(),
        };
        Imported {
            requests,
            events: self.events,
            stages,
            lines: self.lines,
            files: self.files.iter().map(file).collect(),
            window: window.map(ImportedWindow::of),
            losses: losses.iter().map(|(why, count, first)| LossSeen::new(why, count, name(first))).collect(),
        }
    }
}

impl Reader<'_> {
    fn file(&mut self, file: &LogFile, number: u32) -> Result<Ends, ImportError> {
        let failed = |error: &io::Error| ImportError::Input { path: file.path.clone(), text: reason(error) };
        let (open, unpacked) = OpenLog::open(&file.path, self.control).map_err(|error| failed(&error))?;
        let mut ends = Ends::default();
        let mut lines = LogLines::new(unpacked, LONGEST_LINE);
        let mut unframer = Unframer::new(LONGEST_LINE);
        let mut place = Place { file: number, line: 0 };
        match self.lines(&mut lines, &mut unframer, &mut place, &mut ends) {
            Err(ReadError::File(error)) => match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => self.log.losses.add(Why::CutFile, place),
                _ => return Err(failed(&error)),
            },
            Err(ReadError::Import(error)) => return Err(error),
            Ok(()) => {}
        }
        for rest in unframer.finish() {
            match rest {
                Unframed::Line(rest) => self.line(&rest, false, place, &mut ends)?,
                _ => self.log.losses.add(Why::LongLine, place),
            }
        }
        self.log.lines += place.line;
        let seen = open.seen().map_err(|error| failed(&error))?;
        self.log.files.push((file.name.clone(), seen));
        Ok(ends)
    }

    fn lines(
        &mut self,
        lines: &mut LogLines<impl BufRead>,
        unframer: &mut Unframer,
        place: &mut Place,
        ends: &mut Ends,
    ) -> Result<(), ReadError> {
        loop {
            let (text, ended) = match lines.next_line().map_err(ReadError::File)? {
                None => return Ok(()),
                Some(LogLine::TooLong) => (Unframed::TooLong, true),
                Some(LogLine::Line { bytes, ended }) => (unframer.push(bytes), ended),
            };
            place.line += 1;
            match text {
                Unframed::Line(bytes) => self.line(&bytes, ended, *place, ends).map_err(ReadError::Import)?,
                Unframed::TooLong => self.log.losses.add(Why::LongLine, *place),
                Unframed::Piece => {}
            }
            if self.control.stop.load(Ordering::Relaxed) {
                return Err(ReadError::Import(ImportError::Interrupted));
            }
        }
    }

    /// One line of the log, out of its frame.
    fn line(&mut self, bytes: &[u8], ended: bool, place: Place, ends: &mut Ends) -> Result<(), ImportError> {
        let mut found = Vec::new();
        self.reading.line(bytes, place, &mut |one| found.push(one));
        let is_first = ends.first_stage_ns.is_none() && ends.head.is_none();
        if let [Err(why)] = found[..]
            && why.of() == Of::Line
            && why != Why::OtherKind
            && bytes.len() <= LONGEST
        {
            let piece = Piece { bytes: bytes.to_vec(), place, why, beside_ns: None };
            if !ended && bytes.starts_with(b"{") {
                ends.tails.push(piece);
                return Ok(());
            }
            if is_first && !bytes.starts_with(b"{\"kind\":\"Event\"") {
                ends.head = Some(piece);
                return Ok(());
            }
        }
        for one in found {
            match one {
                Ok(event) => {
                    ends.first_stage_ns = ends.first_stage_ns.or(Some(event.stage_ns));
                    ends.last_stage_ns = Some(event.stage_ns);
                    self.event(event)?;
                }
                Err(why) => {
                    self.log.events += u64::from(why.of() == Of::Event);
                    self.log.losses.add(why, place);
                }
            }
        }
        Ok(())
    }

    fn event(&mut self, event: Event) -> Result<(), ImportError> {
        self.log.events += 1;
        self.log.extent.add(event.received_ns, event.stage_ns);
        let pushed = self.log.sorter.as_mut().map_or(Ok(()), |sorter| sorter.push(event));
        pushed.map_err(|error| ImportError::Sort { folder: self.folder.to_owned(), text: reason(&error) })
    }
}

enum ReadError {
    File(io::Error),
    Import(ImportError),
}
