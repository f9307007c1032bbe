//! Small files of the kernel, and what is not in them: said once, null from then on.

use super::groups::Found;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Why a session cannot be read any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadError {
    /// Its process or its group is gone, which is normal once its stop was asked for.
    pub(super) vanished: bool,
    /// In one sentence.
    pub(super) why: String,
}

impl ReadError {
    pub(super) fn vanished(why: String) -> Self {
        Self { vanished: true, why }
    }

    pub(super) fn unexpected(why: String) -> Self {
        Self { vanished: false, why }
    }
}

/// Fields that have no value, each with the reason.
pub(super) type Absent = BTreeMap<&'static str, String>;

/// Reads files of one session.
#[derive(Debug, Default)]
pub(super) struct Files {
    buffer: Vec<u8>,
    /// Fields known to be absent.
    known: HashSet<&'static str>,
    /// Those found absent since they were last taken.
    news: Absent,
    /// Files that have been read: when one of them is gone later, something happened.
    read_before: HashSet<&'static str>,
}

/// ESRCH and ENODEV are what /proc and kernfs say of a process or group that ended under an open file.
fn is_gone(error: &io::Error) -> bool {
    let gone = [rustix::io::Errno::SRCH, rustix::io::Errno::NODEV].map(rustix::io::Errno::raw_os_error);
    error.kind() == ErrorKind::NotFound || error.raw_os_error().is_some_and(|code| gone.contains(&code))
}

/// A kernel that was built or started without what the file would say.
fn is_not_served(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied
        || error.kind() == ErrorKind::Unsupported
        || error.raw_os_error() == Some(rustix::io::Errno::OPNOTSUPP.raw_os_error())
}

impl Files {
    /// Notes that fields have no value.
    pub(super) fn absent(&mut self, fields: &[&'static str], why: &str) {
        for field in fields {
            if self.known.insert(field) {
                self.news.insert(field, why.to_owned());
            }
        }
    }

    /// What was found absent since the last call.
    pub(super) fn take_news(&mut self) -> Absent {
        std::mem::take(&mut self.news)
    }

    fn slurp(&mut self, path: &Path) -> io::Result<String> {
        self.buffer.clear();
        File::open(path)?.read_to_end(&mut self.buffer)?;
        Ok(String::from_utf8_lossy(&self.buffer).into_owned())
    }

    /// The text of a group's file, which gives these fields; None where it is absent.
    pub(super) fn of_group(
        &mut self,
        folder: &Found,
        file: &'static str,
        fields: &[&'static str],
    ) -> Result<Option<String>, ReadError> {
        if fields.iter().all(|field| self.known.contains(field)) {
            return Ok(None);
        }
        let folder = match folder {
            Ok(folder) => &folder.path,
            Err(why) => {
                self.absent(fields, why);
                return Ok(None);
            }
        };
        let path = folder.join(file);
        match self.slurp(&path) {
            Ok(text) => {
                self.read_before.insert(file);
                Ok(Some(text))
            }
            Err(error) if is_gone(&error) && self.read_before.contains(file) => {
                Err(ReadError::vanished(format!("the cgroup {} is gone", folder.display())))
            }
            Err(error) if is_gone(&error) || (is_not_served(&error) && !self.read_before.contains(file)) => {
                self.absent(fields, &format!("{}: {error}", path.display()));
                Ok(None)
            }
            Err(error) => Err(ReadError::unexpected(format!("cannot read {}: {error}", path.display()))),
        }
    }

    /// A group's file of one number.
    pub(super) fn number(
        &mut self,
        folder: &Found,
        file: &'static str,
        field: &'static str,
    ) -> Result<Option<u64>, ReadError> {
        let Some(text) = self.of_group(folder, file, &[field])? else { return Ok(None) };
        let number = text.trim().parse().map(Some);
        number.map_err(|_| {
            let shown: String = text.trim().chars().take(40).collect();
            ReadError::unexpected(format!("{file} says {shown:?}, expected a number"))
        })
    }

    /// A value of a flat keyed text, for one field.
    pub(super) fn key(&mut self, text: &str, file: &str, key: &str, field: &'static str) -> Option<u64> {
        let value = crate::sampler::cgroup_text::keyed(text, key);
        if value.is_none() {
            self.absent(&[field], &format!("{file} has no {key}"));
        }
        value
    }

    /// A file of `/proc/<pid>`; None where this process may not read it.
    pub(super) fn of_process(
        &mut self,
        pid: u32,
        file: &'static str,
        fields: &[&'static str],
    ) -> Result<Option<String>, ReadError> {
        if !fields.is_empty() && fields.iter().all(|field| self.known.contains(field)) {
            return Ok(None);
        }
        match self.slurp(Path::new(&format!("/proc/{pid}/{file}"))) {
            Ok(text) => Ok(Some(text)),
            // The folder stands as long as the process does: what is missing in it is not in this kernel.
            Err(error) if is_gone(&error) && !fields.is_empty() && Path::new(&format!("/proc/{pid}/stat")).exists() => {
                self.absent(fields, &format!("/proc/{pid}/{file}: {error}"));
                Ok(None)
            }
            Err(error) if is_gone(&error) => Err(ReadError::vanished(format!("process {pid} is gone"))),
            Err(error) if is_not_served(&error) && !fields.is_empty() => {
                self.absent(fields, &format!("/proc/{pid}/{file}: {error}"));
                Ok(None)
            }
            Err(error) => Err(ReadError::unexpected(format!("cannot read /proc/{pid}/{file}: {error}"))),
        }
    }
}
