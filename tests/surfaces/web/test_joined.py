"""Modules in one file: each as it was, none twice, and none in a form that would be lost."""

import re

import pytest

from halocline.surfaces.web.bundle import AT_ONCE, PAUSE, bundle_modules, link_module, parse_module


def whole(**modules: str) -> str:
    texts = {f"js/{name}.js": text for name, text in modules.items()}
    return bundle_modules(lambda name: texts.get(name, ""))["first.js"]


def test_a_module_stands_after_those_that_it_needs():
    script = whole(
        app="import { b } from './b.js'\nb()",
        b="import { c } from './c.js'\nexport const b = c",
        c="export const c = 1",
    )
    assert re.findall(r"^// (\S+)$", script, re.MULTILINE) == [
        "js/c.js",
        "js/b.js",
        "js/app.js",
        "js/models/effort-menu.js",
    ]


def test_a_module_that_two_need_stands_there_once():
    script = whole(
        app="import { b } from './b.js'\nimport { c } from './c.js'",
        b="import { c } from './c.js'\nexport const b = c",
        c="export const c = 1",
    )
    assert script.count("export const c") == 0
    assert script.count("const c = 1") == 1


def test_a_browser_may_draw_between_the_modules_of_a_large_bundle():
    large = f"export const it = '{'x' * AT_ONCE}'"
    script = whole(app="import { it } from './b.js'\nimport { c } from './c.js'", b=large, c="export const c = 1")
    assert script.count(PAUSE) == 1
    assert script.index(large[-9:]) < script.index(PAUSE) < script.index("// js/c.js")


def test_modules_that_need_each_other_are_refused_by_name():
    with pytest.raises(ValueError, match=r"js/b\.js imports itself through .*js/c\.js"):
        whole(app="import { b } from './b.js'", b="import { c } from './c.js'", c="import { b } from './b.js'")


@pytest.mark.parametrize(
    ("written", "stands"),
    [
        ("import { a, b as c } from './x.js'", "const { a, b: c } = $js_x;"),
        ("import one from '../v/x.js'", "const { default: one } = $v_x;"),
        ("import one, { a } from './x.js'", "const { default: one, a } = $js_x;"),
        ('import{a as i}from"./x.js";i()', "const { a: i } = $js_x;i()"),
        ("import {\n  a,\n  b,\n} from './x.js'", "const { a, b } = $js_x;"),
        ("const go = () => import('./views/y.js')", "const go = () => import('./js/views/y.js')"),
        ("import(`../vendor/${file}.js`)", "import(`./vendor/${file}.js`)"),
        ("import('./t.js')", "import('./task.js').then((it) => it.$js_t)"),
        ("imported(f) {}", "imported(f) {}"),
    ],
)
def test_an_import_becomes_a_name_of_the_whole(written: str, stands: str):
    assert parse_module("js/app.js", written, {"js/t.js": "task.js"}).body == stands


@pytest.mark.parametrize(
    ("written", "exports"),
    [
        ("export const a = 1", {"a": "a"}),
        ("export async function a() {}", {"a": "a"}),
        ("export class A {}", {"A": "A"}),
        ("export { a, b as c }", {"a": "a", "c": "b"}),
        ("export{a as b};", {"b": "a"}),
        ("export { a as b } from './x.js'", {"b": "$js_x.a"}),
        ("export default function Home() {}", {"default": "Home"}),
        ("export default function(s){}", {"default": "$default"}),
    ],
)
def test_an_export_is_told_beside_the_module(written: str, exports: dict[str, str]):
    found = parse_module("js/app.js", written)
    assert found.exports == exports
    assert "export" not in found.body


@pytest.mark.parametrize(
    "written", ["export let a = 1", "export * from './x.js'", "import * as x from './x.js'", "import './x.js'"]
)
def test_a_form_that_would_be_lost_is_refused(written: str):
    with pytest.raises(ValueError, match=r"js/app\.js imports or exports in a form that cannot be bundled"):
        parse_module("js/app.js", written)


def test_comments_on_lines_of_their_own_are_not_bundled_except_those_of_vendored_files():
    written = "/** One. */\nconst a = 1 // so\n/**\n * Two `of` them.\n */\n  // Three\nconst b = 'x // y'"
    assert parse_module("js/app.js", written).body == "const a = 1 // so\nconst b = 'x // y'"
    assert parse_module("vendor/x.js", written).body == written


def test_a_module_asked_for_by_name_hands_on_all_that_it_had():
    texts = {"js/app.js": "import { a } from './x.js'", "js/x.js": "export const a = 1\nexport default function B() {}"}
    assert bundle_modules(lambda name: texts.get(name, ""))["js/x.js"] == (
        "import { $js_x as it } from '../first.js'\nexport const { a } = it\nexport default it.default\n"
    )


def test_a_module_that_the_first_bundle_has_is_imported_from_there_by_the_second():
    texts = {
        "js/app.js": "import { a } from './x.js'",
        "js/x.js": "export const a = 1",
        "js/transcript/task-view.js": "import { a } from '../x.js'\nexport default function View() { return a }",
    }
    whole = bundle_modules(lambda name: texts.get(name, ""))
    assert whole["task.js"].startswith("import { $js_x } from './first.js'\n")
    assert "const a = 1" not in whole["task.js"]


@pytest.mark.parametrize(
    ("written", "stands"),
    [
        ("import { a } from './x.js'\na()", "import { $js_x } from '../first.js'\nconst { a } = $js_x;\na()"),
        ("import { b } from './y.js'\nb()", "import { b } from './y.js'\nb()"),
        ("import('./x.js')", "import('../first.js').then((it) => it.$js_x)"),
        ("import(`../vendor/${file}.js`)", "import(`../vendor/${file}.js`)"),
        ("export const c = 1", "export const c = 1"),
    ],
)
def test_a_module_of_its_own_imports_only_what_is_bundled_in_another_way(written: str, stands: str):
    assert link_module("js/z.js", written, {"js/x.js": "first.js"}) == stands


def test_a_module_that_waits_for_something_is_waited_for():
    assert "const $js_app = await (async () => {\nawait it()" in whole(app="await it()")
