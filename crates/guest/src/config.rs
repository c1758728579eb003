//! `/firstlight.conf`: the helper's configuration. `docs/reference/formats/guest-report.md` specifies it.

use std::path::PathBuf;

use crate::error::{Error, Result};

/// What the helper is here for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Boot to the ready mark, then report.
    #[default]
    Boot,
    /// Report the kernel's symbols.
    Symbols,
}

/// The configuration, with its defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What to do.
    pub action: Action,
    /// Modules to load, in this order.
    pub modules: Vec<PathBuf>,
    /// Block device of the new root.
    pub root: Option<PathBuf>,
    /// File system type of the new root.
    pub root_type: String,
    /// What to execute in the new root.
    pub init: PathBuf,
    /// Where the report goes.
    pub report: PathBuf,
    /// Shell script that is run before the root is mounted.
    pub before_root: Option<PathBuf>,
    /// Shell script that is the user land when there is no root to switch to.
    pub script: Option<PathBuf>,
    /// Whether a unit in a user land with systemd gives the ready mark.
    pub unit: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            action: Action::Boot,
            modules: Vec::new(),
            root: None,
            root_type: "ext4".to_owned(),
            init: PathBuf::from("/sbin/init"),
            report: PathBuf::from("/dev/ttyS1"),
            before_root: None,
            script: None,
            unit: true,
        }
    }
}

impl Config {
    /// Reads a configuration. An unknown key or value is an error: a typing mistake must not boot something else.
    pub fn parse(text: &str) -> Result<Self> {
        let mut config = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            config.set(line).map_err(|problem| Error::Config { line: index + 1, problem })?;
        }
        Ok(config)
    }

    fn set(&mut self, line: &str) -> std::result::Result<(), String> {
        let (key, value) = line.split_once('=').ok_or_else(|| format!("`{line}` is not `key=value`"))?;
        let (key, value) = (key.trim(), value.trim());
        if value.is_empty() {
            return Err(format!("`{key}` has no value"));
        }
        match key {
            "action" => self.action = action(value)?,
            "module" => self.modules.push(absolute(key, value)?),
            "root" => self.root = Some(absolute(key, value)?),
            "root_type" => self.root_type = value.to_owned(),
            "init" => self.init = absolute(key, value)?,
            "report" => self.report = absolute(key, value)?,
            "before_root" => self.before_root = Some(absolute(key, value)?),
            "script" => self.script = Some(absolute(key, value)?),
            "unit" => self.unit = yes_or_no(key, value)?,
            _ => return Err(format!("unknown key `{key}`")),
        }
        Ok(())
    }
}

fn action(value: &str) -> std::result::Result<Action, String> {
    match value {
        "boot" => Ok(Action::Boot),
        "symbols" => Ok(Action::Symbols),
        _ => Err(format!("unknown action `{value}`")),
    }
}

fn yes_or_no(key: &str, value: &str) -> std::result::Result<bool, String> {
    match value {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("`{key}` is `yes` or `no`, not `{value}`")),
    }
}

fn absolute(key: &str, value: &str) -> std::result::Result<PathBuf, String> {
    if value.starts_with('/') {
        Ok(PathBuf::from(value))
    } else {
        Err(format!("`{key}` needs an absolute path, not `{value}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_configuration_boots_with_the_defaults() {
        assert_eq!(Config::parse("").unwrap(), Config::default());
        assert_eq!(Config::parse("\n  # nothing\n").unwrap(), Config::default());
    }

    #[test]
    fn every_key_is_understood() {
        let text = "action=symbols\nmodule=/a.ko\nmodule=/b.ko\nroot=/dev/pmem0\nroot_type=ext2\ninit=/init\n\
                    report=/dev/ttyS2\nbefore_root=/b\nscript=/s\nunit=no\n";
        let config = Config::parse(text).unwrap();
        assert_eq!(config.action, Action::Symbols);
        assert_eq!(config.modules, [PathBuf::from("/a.ko"), PathBuf::from("/b.ko")]);
        assert_eq!(config.root, Some(PathBuf::from("/dev/pmem0")));
        assert_eq!(config.root_type, "ext2");
        assert_eq!(config.init, PathBuf::from("/init"));
        assert_eq!(config.report, PathBuf::from("/dev/ttyS2"));
        assert_eq!(config.before_root, Some(PathBuf::from("/b")));
        assert_eq!(config.script, Some(PathBuf::from("/s")));
        assert!(!config.unit);
    }

    #[test]
    fn what_means_nothing_is_refused_with_its_line() {
        for (text, message) in [
            ("action=boot\nrot=/dev/pmem0", "configuration line 2: unknown key `rot`"),
            ("action=fly", "configuration line 1: unknown action `fly`"),
            ("root", "configuration line 1: `root` is not `key=value`"),
            ("root=", "configuration line 1: `root` has no value"),
            ("module=a.ko", "configuration line 1: `module` needs an absolute path, not `a.ko`"),
            ("unit=maybe", "configuration line 1: `unit` is `yes` or `no`, not `maybe`"),
        ] {
            assert_eq!(Config::parse(text).unwrap_err().to_string(), message);
        }
    }
}
