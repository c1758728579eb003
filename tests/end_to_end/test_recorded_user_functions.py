"""User functions of a real boot: exactly what small programs execute, each sort of code shown as what it is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import firstlight
from firstlight.api import Boot
from firstlight.lab.run.record import record
from firstlight.lab.run.verify import compare
from firstlight.recipe.options import RecordOptions
from other_boots import OTHER_QEMU
from short_boots import short

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(shutil.which("cc") is None, reason="the guest's program is compiled here"),
]

ROUNDS = 10_000
#: A move, so many rounds of two instructions, and a return.
LOOP = 1 + 2 * ROUNDS + 1
SHORT = 400
DEPTH = 6
HOSTILE = "a\nb\x1b[31m"
PROGRAM = rf"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const unsigned char code[] = {{0xb9, {ROUNDS & 255}, {ROUNDS >> 8}, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3}};

__attribute__((noinline)) void spin_for_a_while(long rounds) {{
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds));
}}
static void run(int file, int flags) {{
    void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, flags, file, 0);
    if (page == MAP_FAILED) exit(3);
    if (file < 0) memcpy(page, code, sizeof code);
    ((void (*)(void))page)();
}}
static void *executes(void *name) {{
    execl("/bin/busybox", "true", (char *)0);
    return name;
}}
int main(int argc, char **argv) {{
    const char *what = argc > 1 ? argv[1] : "";
    spin_for_a_while({ROUNDS});
    if (!strcmp(what, "anonymous")) run(-1, MAP_PRIVATE | MAP_ANONYMOUS);
    if (!strcmp(what, "memfd")) {{
        int file = memfd_create("made\nhere", 0);
        if (write(file, code, sizeof code) < 0) return 4;
        run(file, MAP_SHARED);
    }}
    if (!strcmp(what, "deleted")) {{
        int file = open("/tmp/gone", O_RDWR | O_CREAT, 0700);
        if (write(file, code, sizeof code) < 0) return 4;
        unlink("/tmp/gone");
        run(file, MAP_SHARED);
    }}
    if (!strcmp(what, "unseen")) {{
        pid_t child = fork();
        if (child == 0) for (;;);
        kill(child, SIGKILL);
        wait(0);
    }}
    if (!strcmp(what, "thread")) {{
        pthread_t thread;
        pthread_create(&thread, 0, executes, 0);
        pthread_join(thread, 0);
    }}
    return 0;
}}
"""
COMMANDS = (
    "for sort in anonymous memfd deleted unseen thread; do /bin/shapes $sort; done",
    "/bin/bare",
    "cp /bin/busybox \"$(printf '/tmp/a\\nb\\033[31m')\"; \"$(printf '/tmp/a\\nb\\033[31m')\"; true",
    f"i=0; while [ $i -lt {SHORT} ]; do (exit 0); i=$((i+1)); done",
    f"bomb() {{ [ $1 -eq 0 ] || {{ bomb $(($1-1)) & bomb $(($1-1)) & wait; }}; }}; bomb {DEPTH}",
)


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> RecordOptions:
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "shapes.c").write_text(PROGRAM)
    overlay = folder / "overlay"
    (overlay / "bin").mkdir(parents=True)
    command = ["cc", "-O1", "-static", "-pthread", "-Wl,--build-id", "-o"]
    subprocess.run([*command, str(overlay / "bin/shapes"), str(folder / "shapes.c")], check=True)
    (folder / "bare.c").write_text('void _start(void) { __asm__ volatile("mov $60, %eax; xor %edi, %edi; syscall"); }')
    bare = ["cc", "-O1", "-static", "-nostdlib", "-fno-asynchronous-unwind-tables", "-s", "-Wl,--build-id=none", "-o"]
    subprocess.run([*bare, str(overlay / "bin/bare"), str(folder / "bare.c")], check=True)
    return short(
        output=folder / "shapes.boot", user_functions=True, overlay=overlay, guest_commands=COMMANDS
    )  # fmt: skip


@pytest.fixture(scope="module")
def boot(options: RecordOptions) -> Boot:
    return firstlight.open(record(options))


@pytest.fixture(scope="module")
def shapes(boot: Boot) -> pl.DataFrame:
    return boot.table("user_functions").filter(pl.col("image") == "/bin/shapes")


def test_functions_of_each_thread_sum_to_its_user_mode(boot: Boot) -> None:
    invariant = boot.manifest.invariants["user_functions_partition_user_mode"]
    assert invariant.holds
    rows = boot.table("user_functions")
    sums = rows.group_by("thread").agg(pl.col("self_instructions").sum()).sort("thread")
    threads = boot.table("threads").filter(pl.col("user_instructions") > 0).sort("thread")
    assert sums["self_instructions"].to_list() == threads["user_instructions"].to_list()
    assert rows["self_instructions"].sum() == (invariant.model_extra or {})["instructions"]
    assert boot.process_work()["self_instructions"].sum() == boot.processes()["instructions"].sum()


def test_everything_is_attributed_to_a_process_and_an_executable(boot: Boot) -> None:
    assert boot.table("user_functions").select(pl.col("process", "image").null_count()).row(0) == (0, 0)


def test_a_function_with_a_symbol_has_its_name_and_its_exact_instructions(shapes: pl.DataFrame) -> None:
    spins = shapes.filter(pl.col("function") == "spin_for_a_while")
    # Two instructions a round, and the return; the argument is in its register.
    assert spins["self_instructions"].to_list() == [2 * ROUNDS + 1] * 5
    assert spins["source"].unique().to_list() == ["symbol_table"]
    assert spins["build_id"].null_count() == 0


@pytest.mark.parametrize(
    ("kind", "file"), [("anonymous", None), ("memfd", "memfd:made\nhere"), ("deleted", "/tmp/gone")]
)
def test_generated_code_is_shown_as_what_it_is(shapes: pl.DataFrame, kind: str, file: str | None) -> None:
    rows = shapes.filter(pl.col("kind") == kind)
    assert rows["self_instructions"].sum() == LOOP
    assert rows["file"].unique().to_list() == [file]
    assert rows["function"].null_count() == rows.height


def test_a_thread_that_executes_another_program_has_rows_of_both(boot: Boot, shapes: pl.DataFrame) -> None:
    threads = boot.table("threads").join(shapes.select("thread").unique(), on="thread", how="semi")
    several = boot.processes().filter(pl.col("process").is_in(threads["process"].implode()) & (pl.col("threads") > 1))
    assert several.height == 1
    images = boot.table("user_functions").filter(pl.col("process") == several["process"][0])
    assert images["image"].unique().sort().to_list()[:2] == ["/bin/busybox", "/bin/shapes"]


def test_a_process_that_is_killed_before_it_ran_has_no_user_mode(boot: Boot) -> None:
    shape = boot.processes().filter(pl.col("arguments") == "/bin/shapes unseen")["process"]
    child = boot.processes().filter(pl.col("parent") == shape.item()).row(0, named=True)
    assert (child["status"], child["user_instructions"], child["image"], child["calls"]) == (9, 0, None, 0)
    assert child["name"] == "shapes"
    assert 0 < child["kernel_instructions"] == child["instructions"]


def test_a_program_without_any_table_has_rows_by_block(boot: Boot) -> None:
    bare = boot.table("user_functions").filter(pl.col("file") == "/bin/bare")
    assert bare["self_instructions"].to_list() == [3]
    assert bare.select("source", "function", "build_id").row(0) == ("block", None, None)
    assert bare["address"].null_count() == 0


def test_a_path_with_a_line_end_and_an_escape_is_kept(boot: Boot) -> None:
    rows = boot.table("user_functions").filter(pl.col("file") == f"/tmp/{HOSTILE}")
    assert rows["self_instructions"].sum() > 0


def test_short_processes_and_a_fork_bomb_are_all_there(boot: Boot) -> None:
    threads = boot.table("user_functions")["thread"].n_unique()
    assert threads > SHORT + 2 ** (DEPTH + 1) - 2
    assert boot.processes().filter(pl.col("user_instructions") > 0).height >= SHORT + 2 ** (DEPTH + 1) - 2


def test_each_system_call_names_the_function_that_made_it(boot: Boot) -> None:
    calls = boot.table("system_calls")
    assert calls["user_function"].null_count() == 0
    made = calls.join(boot.table("user_functions"), left_on="user_function", right_on="row", how="left", suffix="_made")
    assert (made["thread"] == made["thread_made"]).all()


def test_a_second_recording_is_equal_in_every_table(boot: Boot, options: RecordOptions, tmp_path: Path) -> None:
    from dataclasses import replace

    again = record(replace(options, output=tmp_path / "again.boot"))
    assert compare(boot.directory, again).differences == ()


@pytest.mark.skipif(OTHER_QEMU is None, reason="there is no second QEMU: see make/other-qemu.sh")
def test_another_qemu_shows_the_same_programs_and_functions(boot: Boot, options: RecordOptions, tmp_path: Path) -> None:
    from dataclasses import replace

    qemu = Path(OTHER_QEMU or "")
    other = firstlight.open(record(replace(options, output=tmp_path / "other.boot", qemu=qemu)))
    assert all(invariant.holds for invariant in other.manifest.invariants.values())
    columns = ("image", "arguments", "status")
    programs = [each.processes().drop_nulls("image").select(columns).sort(columns).rows() for each in (boot, other)]
    assert programs[0] == programs[1]
    spins = other.table("user_functions").filter(pl.col("function") == "spin_for_a_while")
    assert spins["self_instructions"].to_list() == [2 * ROUNDS + 1] * 5


def test_the_guest_is_undisturbed(boot: Boot, options: RecordOptions, tmp_path: Path) -> None:
    from dataclasses import replace

    plain = record(replace(options, output=tmp_path / "plain.boot", user_functions=False))
    for name in ("raw/console.log", "raw/report.bin"):
        assert (plain / name).read_bytes() == (boot.directory / name).read_bytes()
    assert firstlight.open(plain).calls().equals(boot.calls())
