//! A library to preload (`LD_PRELOAD`): a program that runs with it makes one more `stat` for each directory that it
//! opens, by name and without following links, right after the opening. It does so where `FIRSTLIGHT_RESTAT` is `1` in
//! its environment; elsewhere it makes the same detour without the call, so that two runs differ by the calls alone.
//!
//! Programs that walk trees open directories by `openat` with `O_DIRECTORY` (gnulib's fts) or by `opendir`.
//!
//! A build that aborts at a panic has no standard library: its few functions of C are those of the program that loads it. Such
//! a library names no other one, so the C library of the guest does not have to be there when it is linked.

#![cfg_attr(all(panic = "abort", not(test)), no_std)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

use core::ffi::{c_char, c_int, c_uint, CStr};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, Ordering};

const VARIABLE: &CStr = c"FIRSTLIGHT_RESTAT";
const UNKNOWN: u8 = 2;

#[cfg(all(panic = "abort", not(test)))]
#[panic_handler]
#[expect(unsafe_code, reason = "a function of C")]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it takes nothing, and does not return.
    unsafe { libc::abort() }
}

/// Whether this program shall make the further call.
#[expect(unsafe_code, reason = "a function of C")]
fn wanted() -> bool {
    static WANTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    let known = WANTED.load(Ordering::Relaxed);
    if known != UNKNOWN {
        return known == 1;
    }
    // SAFETY: the name is a C string, and what is found is one that stays until the environment changes.
    let found = unsafe {
        let value = libc::getenv(VARIABLE.as_ptr());
        !value.is_null() && CStr::from_ptr(value) == c"1"
    };
    WANTED.store(found.into(), Ordering::Relaxed);
    found
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
        let mut found = MaybeUninit::<libc::stat>::uninit();
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
            -1 => core::ptr::null_mut(),
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
