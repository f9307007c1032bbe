//! cgroup, /proc and PSI readers on their own threads.
