//! Figures in messages.

/// Seconds for a message.
pub fn seconds(ns: i64) -> String {
    format!("{:.6} s", ns as f64 / 1e9)
}
