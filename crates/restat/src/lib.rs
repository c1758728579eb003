//! A library to preload (`LD_PRELOAD`): a program that runs with it makes one more `stat` for each directory that it
//! opens, by name and without following links, right after the opening. It does so where `FIRSTLIGHT_RESTAT` is `1` in
//! its environment; elsewhere it makes the same detour without the call, so that two runs differ by the calls alone.
//!
//! Programs that walk trees open directories by `openat` with `O_DIRECTORY` (gnulib's fts) or by `opendir`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

use std::ffi::{c_char, c_int, c_uint};
use std::sync::OnceLock;

const VARIABLE: &str = "FIRSTLIGHT_RESTAT";

/// Whether this program shall make the further call.
fn wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    *WANTED.get_or_init(|| std::env::var_os(VARIABLE).is_some_and(|value| value == "1"))
}

/// Opens as the C library does, and looks once more at what was opened when it is a directory.
///
/// # Safety
///
/// `name` is a C string.
#[expect(unsafe_code, reason = "the C library's functions are replaced by name")]
unsafe fn open(directory: c_int, name: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the arguments are those of the call that is replaced; `syscall` sets errno as it does.
    let opened = unsafe { libc::syscall(libc::SYS_openat, directory, name, flags, mode) };
    if opened >= 0 && flags & libc::O_DIRECTORY != 0 && wanted() {
        let mut found = std::mem::MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the name is a C string, and the place is as large as a `stat`. Its outcome is no matter.
        unsafe { libc::fstatat(directory, name, found.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW) };
    }
    // A descriptor is a small number, and a failure is -1.
    c_int::try_from(opened).unwrap_or(-1)
}

/// `openat(2)`; its last argument is looked at only where a file is created.
///
/// # Safety
///
/// As that of the C library.
#[no_mangle]
#[expect(unsafe_code, reason = "it takes the place of the C library's")]
pub unsafe extern "C" fn openat(directory: c_int, name: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: as that of this function.
    unsafe { open(directory, name, flags, mode) }
}

/// What fortified programs call for `openat` without a mode.
///
/// # Safety
///
/// As that of the C library.
#[no_mangle]
#[expect(unsafe_code, reason = "it takes the place of the C library's")]
pub unsafe extern "C" fn __openat_2(directory: c_int, name: *const c_char, flags: c_int) -> c_int {
    // SAFETY: as that of this function.
    unsafe { open(directory, name, flags, 0) }
}

/// `opendir(3)`.
///
/// # Safety
///
/// As that of the C library.
#[no_mangle]
#[expect(unsafe_code, reason = "it takes the place of the C library's")]
pub unsafe extern "C" fn opendir(name: *const c_char) -> *mut libc::DIR {
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_DIRECTORY;
    // SAFETY: as that of this function; what was opened is handed on.
    unsafe {
        match open(libc::AT_FDCWD, name, flags, 0) {
            -1 => std::ptr::null_mut(),
            opened => libc::fdopendir(opened),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "they are functions of C")]
    fn directories_are_opened_and_what_is_none_is_refused_as_the_c_library_does() {
        // SAFETY: the names are C strings, and what is opened is closed.
        unsafe {
            let stream = opendir(c"/".as_ptr());
            assert!(!stream.is_null());
            assert_eq!(libc::closedir(stream), 0);
            assert!(opendir(c"/proc/version".as_ptr()).is_null());
            assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ENOTDIR));
            let opened = openat(libc::AT_FDCWD, c"/proc/version".as_ptr(), libc::O_RDONLY, 0);
            assert!(opened >= 0);
            assert_eq!(libc::close(opened), 0);
        }
    }
}
