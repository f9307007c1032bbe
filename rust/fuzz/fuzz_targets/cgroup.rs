//! cgroup and PSI texts, and where the files are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::sampler::{cgroup_place, cgroup_text, psi};

fuzz_target!(|texts: (&str, &str)| {
    let (one, other) = texts;
    let _ = cgroup_place::place(one, other, "cpu");
    let _ = (cgroup_text::cpu_max(one), cgroup_text::cfs_quota(one, other), cgroup_text::keyed(one, other));
    let _ = cgroup_place::place_at(std::path::Path::new(one), other, "memory");
    let _ = (cgroup_text::io_stat(one), cgroup_text::blkio_bytes(one));
    let _ = (cgroup_text::bytes(one), cgroup_text::cpu_list(one), psi::parse(one));
});
