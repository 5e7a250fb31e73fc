"""The page in a real browser: nothing is fetched, nothing fails, the verdict is seen first, links, sorting, filter work.

Needs Debian's chromium and chromium-driver; accessibility also npm, which fetches axe-core.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.render.test_page import finding, shown_of, situations

pytestmark = pytest.mark.heavy
WIDTHS = (360, 800, 1440)
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, study in situations().items():
        _, text = shown_of(study, [finding("left-000"), finding("right-001")] if name == "published" else [])
        found[name] = folder / f"{name.replace(' ', '-')}.html"
        found[name].write_text(text, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs chromium and chromedriver (Debian: chromium, chromium-driver)")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    yield made
    made.quit()


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("axe")
    if shutil.which("npm") is None:
        pytest.skip("needs npm, which fetches axe-core")
    words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "axe-core@4"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        pytest.skip(f"npm can't fetch axe-core: {done.stderr.strip()[-200:]}")
    return (folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


def seen(browser: Any, page: Path, width: int = 1440, scheme: str = "light") -> None:
    """Open a page in a window of a width, in a colour scheme, with an empty log."""
    browser.get_log("performance")
    browser.get_log("browser")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(page.as_uri())


def test_no_request_leaves_the_file_and_nothing_fails(browser: Any, pages: dict[str, Path]) -> None:
    for name, page in pages.items():
        seen(browser, page)
        events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        assert asked == [page.as_uri()], name
        assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_verdict_is_seen_without_scrolling_and_nothing_sticks_out(
    browser: Any, pages: dict[str, Path], width: int
) -> None:
    for name, page in pages.items():
        seen(browser, page, width)
        box = browser.execute_script("return document.querySelector('header').getBoundingClientRect().toJSON()")
        line = browser.execute_script("return document.querySelector('.line').getBoundingClientRect().toJSON()")
        assert 0 <= box["top"] < 100, name
        assert line["top"] < 400, name
        wide = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1], (name, wide)


def test_links_sorting_and_filter(browser: Any, pages: dict[str, Path]) -> None:
    seen(browser, pages["published"])
    link = browser.find_element("css selector", "#trials a")
    browser.execute_script("arguments[0].click()", link)
    assert browser.current_url.endswith(link.get_attribute("href").split("#")[1])
    rows = "return [...document.querySelectorAll('#trials tbody tr:not([hidden])')].map(r => r.cells[0].textContent)"
    before = browser.execute_script(rows)
    button = browser.find_element("css selector", "#trials thead th button")
    for direction in ("ascending", "descending"):
        browser.execute_script("arguments[0].click()", button)
        head = browser.find_element("css selector", "#trials thead th")
        assert head.get_attribute("aria-sort") == direction
        assert browser.execute_script(rows) == sorted(before, reverse=direction == "descending")
    numbers = "return [...document.querySelectorAll('[data-key]')].map(e => e.textContent)"
    figures = browser.execute_script(numbers)
    box = browser.find_element("css selector", "input[data-filter]")
    box.send_keys("left-00")
    assert set(browser.execute_script(rows)) == {name for name in before if "left-00" in name}
    words = browser.find_element("id", "filter-words").text
    assert "Strata that are left out: right." in words
    assert browser.execute_script(numbers) == figures


def test_every_picture_has_words(browser: Any, pages: dict[str, Path]) -> None:
    for page in pages.values():
        seen(browser, page)
        bare = browser.execute_script(
            "return [...document.querySelectorAll('svg')].filter(s => !s.closest('[aria-label]') && "
            "!s.getAttribute('aria-labelledby')).length"
        )
        assert bare == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, pages: dict[str, Path], axe: str, scheme: str) -> None:
    for name in ("published", "exclusions", "exploratory", "case series"):
        seen(browser, pages[name], 1440, scheme)
        browser.execute_script(axe)
        found = browser.execute_async_script(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations))"
        )
        grave = [
            (one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")
        ]
        assert grave == [], name
