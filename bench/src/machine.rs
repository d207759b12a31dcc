//! What a run was taken on.

/// Processor and kernel, as far as the kernel tells.
pub(crate) fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let kernel = rustix::system::uname();
    format!("{}, kernel {}", model.trim_start_matches([' ', '\t', ':']), kernel.release().to_string_lossy())
}
