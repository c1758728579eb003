//! The kd table.
