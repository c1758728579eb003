"""Questions to a real boot: the arguments are those of its system calls, and the guest does not notice."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.errors import FirstlightError

pytestmark = pytest.mark.boot


def test_the_files_that_a_function_opens_are_those_of_the_system_calls(short_boot: Path) -> None:
    answers = firstlight.ask(short_boot, "do_sys_openat2(dfd, filename, how->flags:u64)", results=True)
    assert answers.unaffected, answers.differences
    assert answers.calls == answers.recorded == answers.profile_calls == answers.rows.height
    opened = firstlight.open(short_boot).system_calls().filter(pl.col("name").is_in(["open", "openat", "openat2"]))
    columns = ["path", "result", "pid"]
    asked = answers.rows.select(pl.col("filename").alias("path"), "result", pl.col("tgid").alias("pid"))
    # The kernel itself opens nothing by this function, and every call returned.
    assert asked.rows() == opened.select(columns).rows()
    assert set(answers.rows["dfd"]) == {-100}
    times = zip(answers.rows["start_ns"], opened["start_ns"], opened["end_ns"], strict=True)
    assert all(begin <= entered <= end for entered, begin, end in times)


def test_a_condition_keeps_the_calls_that_fit(short_boot: Path) -> None:
    asked = "vfs_read(file->f_path.dentry->d_name.name:string, count)"
    answers = firstlight.ask(short_boot, asked, when='comm == "sh" and count > 1')
    assert answers.unaffected
    assert 0 < answers.rows.height < answers.calls
    assert set(answers.rows["comm"]) == {"sh"}
    assert "userland.sh" in answers.rows["file->f_path->dentry->d_name->name"].to_list()


@pytest.mark.parametrize(
    ("question", "message", "hint"),
    [
        ("do_sys_opnat2(dfd)", "the kernel has no function `do_sys_opnat2`", "did you mean `do_sys_openat2`"),
        ("do_sys_openat2(mood)", "`do_sys_openat2` has no parameter `mood`", "there are `dfd`, `filename`, `how`"),
        ("do_sys_openat2(how->mood)", "`how` has no member `mood`", "there are `flags`, `mode`, `resolve`"),
        ("vfs_read(file->f_path)", "`file->f_path` is a structure", "name a member: there are `mnt`, `dentry`"),
    ],
)
def test_what_the_kernel_does_not_have_is_named_with_what_there_is(
    short_boot: Path, question: str, message: str, hint: str
) -> None:
    with pytest.raises(FirstlightError) as caught:
        firstlight.ask(short_boot, question)
    assert message in str(caught.value)
    assert hint in caught.value.report()


def test_a_boot_that_cannot_repeat_cannot_be_asked(plain_boot: Path) -> None:
    with pytest.raises(FirstlightError) as caught:
        firstlight.ask(plain_boot, "do_sys_openat2(dfd)")
    assert "hint: record it without `--no-profile`" in caught.value.report()
