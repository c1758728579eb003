"""Every word of the kernel's command line is read by somebody, or it is told that nobody did."""

from __future__ import annotations

import gzip
import lzma
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from firstlight import zstd
from firstlight.bundle.command_line import CommandLineWord, WordReader, read_words, unread, words_text
from firstlight.errors import UsageError
from firstlight.lab.kernel.command_line.account import WordEvidence, account, split_words, words_said_unknown
from firstlight.lab.kernel.command_line.contradictions import contradictions
from firstlight.lab.kernel.command_line.image import open_image
from firstlight.lab.kernel.command_line.parameters import Parameters, kernel_parameters
from firstlight.lab.kernel.command_line.vocabulary import HELPER, SYSTEMD
from firstlight.lab.kernel.kernel import Kernel
from firstlight.lab.qemu.command_line import kernel_command_line
from firstlight.lab.run.validate_options import check_choices
from firstlight.recipe.isa.x86_64 import X86_64
from firstlight.recipe.options import RecordOptions
from invented_image import elf

KNOWN = Parameters(
    setup=frozenset({"console=", "quiet", "mitigations", "rdinit=", "random.trust_cpu", "log_buf_len"}),
    built_in=frozenset({"printk.time", "initcall_debug", "rcutree.qhimark"}),
    raw=frozenset({"nokaslr"}),
)
BOOT = WordEvidence(KNOWN, unknown=frozenset({"nokaslr"}), loaded=frozenset(), readers=(HELPER,))


def reader(word: str, evidence: WordEvidence = BOOT) -> tuple[str, str]:
    """Who read the only word of a command line."""
    (found,) = account(word, evidence)
    return found.reader.value, found.detail


@pytest.mark.parametrize(
    ("word", "parameter"),
    [
        ("console=ttyS0,115200", "console"),
        ("quiet", "quiet"),
        ("mitigations=off", "mitigations"),
        ("random.trust_cpu=off", "random.trust_cpu"),
        ("log-buf-len=1M", "log_buf_len"),
        ("printk.time=1", "printk.time"),
        ("initcall-debug", "initcall-debug"),
        ("sysctl.kernel.randomize_va_space=2", "sysctl.kernel.randomize_va_space"),
    ],
)
def test_the_kernel_reads_what_its_tables_name(word: str, parameter: str) -> None:
    assert reader(word) == ("kernel", parameter)


def test_what_early_code_reads_without_a_table_is_read_though_the_kernel_calls_it_unknown() -> None:
    assert reader("nokaslr") == ("kernel", "nokaslr, read by its first code")


def test_a_word_that_nobody_knows_was_read_by_nobody() -> None:
    assert reader("mitigation=off") == (
        "nobody",
        "the kernel has no parameter mitigation, and no program that Firstlight knows reads it; "
        "did you mean `mitigations`?",
    )


def test_a_parameter_of_a_module_is_read_when_the_module_was_loaded() -> None:
    assert reader("loop.max_loop=200")[0] == "nobody"
    shown = {"loop": frozenset({"max_loop"})}
    loaded = replace(BOOT, loaded=frozenset({"loop"}), built_in=shown)
    assert reader("loop.max_loop=200", loaded) == ("module", "loop, parameter max_loop")
    assert reader("loop.no_such=1", loaded) == ("nobody", "the module loop has no parameter no_such")
    # Listed, but not loaded: it is built in, and a kernel whose tables are not known has it all the same.
    assert reader("loop.max_loop=200", replace(BOOT, built_in=shown))[0] == "kernel"


def test_a_guest_that_reports_nothing_leaves_open_whether_a_module_was_loaded() -> None:
    silent = replace(BOOT, loaded=None)
    assert reader("loop.max_loop=200", silent) == ("unknown", "no report says whether the module loop was loaded")
    assert reader("tpyo", silent)[0] == "nobody"


def test_a_built_in_module_without_that_parameter_reads_nothing() -> None:
    evidence = replace(BOOT, built_in={"rcutree": frozenset({"qhimark"})})
    assert reader("rcutree.qhimarks=3", evidence) == ("nobody", "rcutree is built in, and has no parameter qhimarks")


def test_the_userspace_reads_its_own_words_where_it_is_there() -> None:
    assert reader("firstlight_mounts=late") == ("userspace", "Firstlight's helper")
    why = "no systemd ran in this boot, and the kernel has no such parameter"
    assert reader("systemd.unit=rescue.target") == ("nobody", why)
    assert reader("rd.systemd.unit=rescue.target") == ("nobody", why)
    assert reader("systemd.unit=rescue.target", replace(BOOT, readers=(SYSTEMD,))) == ("userspace", "systemd")


def test_a_command_for_the_guest_that_names_a_word_reads_it() -> None:
    evidence = replace(BOOT, mentioned="grep -q myword= /proc/cmdline && echo found")
    assert reader("myword=1", evidence)[0] == "userspace"
    assert reader("word=1", evidence)[0] == "nobody"


def test_a_file_of_the_overlay_that_names_a_word_reads_it() -> None:
    evidence = replace(BOOT, overlay="case $word in\n  lvm.disks=*) disks=${word#*=} ;;\nesac")
    assert reader("lvm.disks=2,2", evidence) == ("userspace", "a file of the overlay names it")
    assert reader("lvm.disk=2,2", evidence)[0] == "nobody"


def test_what_stands_behind_two_dashes_is_for_the_first_process() -> None:
    words = account("quiet -- single", BOOT)
    assert [(each.text, each.reader) for each in words] == [
        ("quiet", WordReader.KERNEL),
        ("--", WordReader.KERNEL),
        ("single", WordReader.USERSPACE),
    ]


def test_a_value_that_the_kernel_did_not_take_is_reported() -> None:
    evidence = replace(BOOT, unknown=frozenset({"mitigations=of"}))
    assert reader("mitigations=of", evidence) == ("kernel", "mitigations, which did not take it")


def test_without_tables_the_kernel_itself_says_what_it_did_not_know() -> None:
    blind = WordEvidence(
        Parameters(frozenset(), frozenset(), known=False), unknown=frozenset({"tpyo"}), loaded=frozenset()
    )
    assert reader("quiet", blind)[0] == "kernel"
    assert reader("tpyo", blind)[0] == "nobody"
    assert reader("nokaslr", blind)[0] == "kernel"


def test_without_tables_and_a_word_of_the_kernel_nobody_is_blamed() -> None:
    silent = WordEvidence(Parameters(frozenset(), frozenset(), known=False), unknown=None, loaded=None)
    for word in ("console=ttyS0", "rdinit=/bin/sh", "norandmaps"):
        assert reader(word, silent)[0] == "unknown"


def test_words_with_quotes_and_the_kernels_own_list() -> None:
    assert split_words('a="b c" d -- e')[0] == ['a="b c"', "d"]
    log = '[    0.03] Unknown kernel command line parameters "nokaslr x=1", will be passed to user space.'
    assert words_said_unknown(log) == frozenset({"nokaslr", "x=1"})
    assert words_said_unknown("nothing") is None


def test_words_are_kept_as_text_and_read_again_whatever_stands_in_them() -> None:
    words = [CommandLineWord("a\tb=\nc", WordReader.NOBODY, "why"), CommandLineWord("q", WordReader.KERNEL, "q")]
    assert [word.text for word in read_words(words_text(words))] == ["a b= c", "q"]
    assert [word.text for word in unread(read_words(words_text(words)))] == ["a b= c"]
    assert read_words("x\tsomebody else\ty\n\n\t\t") == []


def bz_image(payload: bytes) -> bytes:
    """A bzImage with that payload, as far as its header tells where it is."""
    head = bytearray(1024)
    head[0x1F1] = 1
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", head, 0x206, 0x20F)
    struct.pack_into("<II", head, 0x248, 16, len(payload))
    return bytes(head) + bytes(16) + payload + b"nokaslr\0"


SYMBOLS = """ffffffff81000010 d __setup_str_quiet_kernel
ffffffff81000030 d __param_str_time
ffffffff81000050 d __param_str_time
ffffffff81000000 T _text
"""
TEXTS = {0xFFFFFFFF81000010: b"quiet\0", 0xFFFFFFFF81000030: b"printk.time\0", 0xFFFFFFFF81000050: b"x.time\0"}


def _plain(content: bytes) -> bytes:
    return content


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstd.compress])
def test_a_kernels_parameters_are_read_out_of_its_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: type[bytes]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "kernel").write_bytes(bz_image(pack(elf(TEXTS))))
    (tmp_path / "symbols").write_text(SYMBOLS)
    kernel = Kernel(tmp_path / "kernel", "digest", "6.1", None, None)
    found = kernel_parameters(kernel, tmp_path / "symbols")
    assert found.setup == {"quiet"}
    assert found.built_in == {"printk.time", "x.time"}
    assert "nokaslr" in found.raw
    assert found.known


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF", b"HdrS", bz_image(b"\xfd7zXZ cut"), bz_image(b"?"), elf(TEXTS)[:100]]
)
def test_an_image_that_cannot_be_read_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    image = open_image(content)
    assert image is None or image.text_at(0xFFFFFFFF81000010) is None
    (tmp_path / "kernel").write_bytes(content)
    (tmp_path / "symbols").write_text(SYMBOLS)
    kernel = Kernel(tmp_path / "kernel", "digest", "6.1", None, None)
    assert not kernel_parameters(kernel, tmp_path / "symbols").known
    assert not kernel_parameters(kernel, None).known


def test_who_asks_for_kaslr_gets_it_or_is_reported_why_not(tmp_path: Path) -> None:
    options = RecordOptions(output=tmp_path / "a.boot", append="quiet kaslr")
    with pytest.raises(
        UsageError,
        match="`--append kaslr` cannot be combined with a profile: the kernel is not at its symbols' addresses",
    ) as caught:
        check_choices(options, X86_64)
    assert "--no-profile" in (caught.value.hint or "")
    check_choices(replace(options, profile=False), X86_64)
    check_choices(replace(options, live=True), X86_64)
    check_choices(replace(options, append="quiet nokaslr kaslr"), X86_64)
    assert kernel_command_line(X86_64, "kaslr") == "console=ttyS0 norandmaps kaslr"
    assert reader("kaslr") == ("firstlight", "leaves `nokaslr` out for it")


def test_words_that_contradict_those_of_firstlight_are_named() -> None:
    own = "console=ttyS0 nokaslr norandmaps root=/dev/pmem0"
    assert list(contradictions(own, "quiet console=ttyS0 nokaslr sysctl.kernel.randomize_va_space=0 -- root=x")) == []
    said = list(contradictions(own, "console=tty0 root=/dev/vda sysctl.kernel.randomize_va_space=2"))
    assert ["`norandmaps`" in each for each in said] == [False, False, True]
    assert said[0].startswith("`console=tty0` conflicts with `console=ttyS0` of Firstlight")
    assert said[1].startswith("`root=/dev/vda` conflicts with `root=/dev/pmem0` of Firstlight")
