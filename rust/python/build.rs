//! What the module tells about its build: compiler, target and profile; the commit where the builder says it.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("--version").output().ok().map(|out| out.stdout).unwrap_or_default();
    println!("cargo:rustc-env=PERFQ_RUSTC={}", String::from_utf8_lossy(&version).trim());
    for (name, from) in [("PERFQ_TARGET", "TARGET"), ("PERFQ_PROFILE", "PROFILE"), ("PERFQ_COMMIT", "PERFQ_COMMIT")] {
        println!("cargo:rustc-env={name}={}", std::env::var(from).unwrap_or_default());
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PERFQ_COMMIT");
}
