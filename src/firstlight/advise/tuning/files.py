"""The result of a tuning as files to apply."""

from __future__ import annotations

from firstlight.advise.tuning.remedy import combined
from firstlight.advise.tuning.tuning import Tuning


def files_to_apply(tuning: Tuning) -> dict[str, str]:
    """The kept remedies as files by their names: command line, kernel configuration, files of the system, recipe.

    A file that is a link has the text `link: TARGET`; one that is removed has `removed`.
    """
    change = combined([tuning.remedy(name) for name in tuning.kept])
    files: dict[str, str] = {}
    if change.append:
        files["command-line"] = change.append + "\n"
    if change.kconfig is not None and change.kconfig.text:
        files["kernel.config"] = change.kconfig.text
    for folder, members in (("rootfs", change.files), ("initramfs", change.initramfs_files)):
        for path, file in sorted(members.items()):
            name = f"{folder}{path}"
            if file.text is not None:
                files[name] = file.text.lstrip("\n")
            elif file.link is not None:
                files[name] = f"link: {file.link}\n"
            elif file.source is not None:
                files[name] = f"copy: {file.source}\n"
            else:
                files[name] = "removed\n"
    machine = {name: getattr(change, name) for name in ("cpu", "machine", "memory", "kernel")}
    if lines := [f"{name}: {value}\n" for name, value in machine.items() if value]:
        files["machine"] = "".join(lines)
    return files
