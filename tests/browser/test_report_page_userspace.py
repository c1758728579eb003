"""What the report page shows of userspace: one flame graph of processes, and a table of user functions."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import firstlight
from browser.report_page import Report, Show, assert_only_text
from browser.selections import check_process_selections
from bundles import make_bundle
from firstlight.render.page.html import page_html
from firstlight.render.page.process_tree import page_user_functions, process_tree
from invented_call_functions import with_call_functions
from invented_processes import make_processes


def draw_processes(report: Report) -> None:
    report.page.locator("#flame select[aria-label='Tree']").select_option("processes")
    report.page.wait_for_timeout(300)


def test_the_flame_graph_of_processes_holds_kernel_and_userspace(show: Show, tmp_path: Path) -> None:
    report = show(make_processes(tmp_path))
    assert "udevadm settle" not in report.frames()
    draw_processes(report)
    report.page.locator("#flame g.frame[name='udevadm settle']").click()
    report.page.wait_for_timeout(400)
    drawn = report.frames()
    # A process, what it executed in user mode, the function that made a system call, and the kernel in that call.
    assert {"[boot]", "init", "udevadm settle", "[user]", "libc.so.6", "malloc", "execve", "[kernel]"} <= set(drawn)
    assert "in the whole boot" in report.section("flame")


def test_the_address_keeps_the_tree_and_the_sandwich_is_of_it(show: Show, tmp_path: Path) -> None:
    report = show(make_processes(tmp_path))
    draw_processes(report)
    report.page.wait_for_url("**m.tree=processes**")
    address = report.page.url
    report.page.goto("about:blank")
    report.page.goto(address)
    report.page.wait_for_selector("html[data-ready]")
    assert "udevadm settle" in report.frames()
    report.page.get_by_label("Order of the frames").select_option("sandwich")
    box = report.page.get_by_label("Function of the sandwich")
    box.fill("malloc")
    box.dispatch_event("change")
    callers, callees = report.page.locator("#flame .sandwich .flame").all()
    assert "[user]" in callers.inner_html()
    assert "execve" in callees.inner_html()
    report.misdeeds.requests[:] = [report.file.as_uri()]


def test_each_user_function_has_a_row_and_the_sum_is_that_of_user_mode(show: Show, tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    report = show(bundle)
    rows = firstlight.open(bundle).user_functions()
    assert sorted(report.column("user-functions", "name")) == sorted(rows["name"].to_list())
    assert f"{rows['self_instructions'].sum():,}" in report.section("user-functions")
    report.page.get_by_label("Filter user functions").fill("malloc")
    report.page.wait_for_timeout(300)
    assert report.column("user-functions", "name") == ["malloc"]


def test_selections_of_time_count_processes_and_user_functions_as_python_does(show: Show, tmp_path: Path) -> None:
    bundle = make_processes(tmp_path)
    boot = firstlight.open(bundle)
    report = show(bundle)
    check_process_selections(report, boot, 60)
    # The page itself follows a phase that is chosen.
    phases = boot.phases()
    start, end = phases.row(-1, named=True)["start_ns"], phases.row(-1, named=True)["end_ns"]
    draw_processes(report)
    whole = report.frame_width("[before the kernel]")
    report.page.locator("#phase").select_option(phases["phase"][-1])
    report.page.wait_for_timeout(300)
    assert whole > 0
    assert "[before the kernel]" not in report.frames()
    executed = boot.user_functions(between=(start, end))["self_instructions"].sum()
    assert f"{executed:,} instructions in user mode" in report.section("user-functions")


def test_hostile_names_of_files_and_functions_do_nothing(show: Show, tmp_path: Path) -> None:
    report = show(make_processes(tmp_path, hostile=True))
    draw_processes(report)
    assert_only_text(report)


def test_a_boot_without_processes_offers_no_such_tree_and_no_table(show: Show, tmp_path: Path) -> None:
    report = show(make_bundle(tmp_path))
    assert report.page.locator("#user-functions").count() == 0
    assert not report.page.locator("#flame select[aria-label='Tree']").is_visible()


def test_what_the_page_holds_adds_up_to_the_boot(tmp_path: Path) -> None:
    boot = firstlight.open(make_processes(tmp_path))
    tree = process_tree(boot).calls
    totals = boot.manifest.totals
    assert tree.row(0, named=True)["total_instructions"] == tree["self_instructions"].sum() == totals.instructions
    assert tree.row(0, named=True)["total_ns"] == tree["self_ns"].sum() == totals.virtual_ns
    calls = boot.table("system_calls").filter(pl.col("user_function").is_not_null())["kernel_instructions"].to_list()
    below_user = boot.processes()["user_instructions"].to_list()
    user = tree.filter(pl.col("function") == "[user]")["total_instructions"].to_list()
    assert sum(user) == sum(below_user) + sum(instructions or 0 for instructions in calls)
    assert page_user_functions(boot)["instructions"] == sum(below_user)


def test_kernel_functions_stand_below_the_system_calls_of_a_process(show: Show, tmp_path: Path) -> None:
    boot = firstlight.open(with_call_functions(make_processes(tmp_path)))
    report = show(html=page_html(boot, all_paths=True))
    draw_processes(report)
    report.page.get_by_label("Search the flame graph").fill("__x64_sys_read")
    makers = boot.table("system_calls").filter(pl.col("name") == "read").select("thread", "user_function").n_unique()
    assert f"{makers} frames match" in report.section("flame")
    assert "where one caller alone made such calls" in report.section("flame")
    callers = report.show_sandwich("do_read").first.locator("g.frame")
    names = callers.evaluate_all("all => all.map(e => e.getAttribute('name'))")
    assert names[:3] == ["do_read", "__x64_sys_read", "read"]
    assert {"udevadm settle", "svc"} <= set(names)


def test_selections_count_the_functions_of_system_calls_as_python_does(show: Show, tmp_path: Path) -> None:
    bundle = with_call_functions(make_processes(tmp_path))
    check_process_selections(show(bundle), firstlight.open(bundle), 12)
