//! Workloads of directory trees, inside Firstlight's guest: trees of any shape, a walk with and without one more stat
//! for each directory, runs that are measured, an audit of mount points, and automounts that tell who woke them.
//!
//! `docs/reference/formats/walk-guest.md` says what each verb does and writes.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod automount;
mod calls;
mod error;
mod mount_points;
mod run;
mod shape;
mod tree;
mod walk;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::error::{Error, Result};

const USAGE: &str = "usage: firstlight-walk build PATH SHAPE
       firstlight-walk walk PATH [stat-again] [group=GID]
       firstlight-walk run FILE NAME PROGRAM [ARGUMENT...]
       firstlight-walk call CALL PATH
       firstlight-walk mount-points FILE [PATH...]
       firstlight-walk automount FILE NAME POINT PROGRAM [ARGUMENT...]
";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some((verb, rest)) = arguments.split_first() else {
        return usage();
    };
    let done = match (verb.to_string_lossy().as_ref(), rest) {
        ("build", [path, shape]) => {
            shape::Shape::parse(&shape.to_string_lossy()).and_then(|shape| tree::build(Path::new(path), &shape))
        }
        ("walk", [path, how @ ..]) => walk::Manner::parse(how).and_then(|manner| {
            let seen = walk::walk(Path::new(path), manner)?;
            say(&format!("{} directories, {} other files\n", seen.directories, seen.others))
        }),
        ("run", [file, name, program @ ..]) if !program.is_empty() => {
            return run::run(Path::new(file), &name.to_string_lossy(), program).map_or_else(told, ExitCode::from);
        }
        ("call", [call, path]) => calls::call(&call.to_string_lossy(), Path::new(path)),
        ("mount-points", [file, plain @ ..]) => mount_points::audit(Path::new(file), plain),
        ("automount", [file, name, point, program @ ..]) if !program.is_empty() => {
            automount::try_one(Path::new(file), &name.to_string_lossy(), Path::new(point), program)
        }
        _ => return usage(),
    };
    done.map_or_else(told, |()| ExitCode::SUCCESS)
}

fn say(text: &str) -> Result<()> {
    io::stdout().write_all(text.as_bytes()).map_err(|source| Error::system("write", "standard output", source))
}

fn usage() -> ExitCode {
    let _ = io::stderr().write_all(USAGE.as_bytes());
    ExitCode::from(2)
}

fn told(error: Error) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {error}");
    ExitCode::FAILURE
}
