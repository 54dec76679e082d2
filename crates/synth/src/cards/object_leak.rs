//! Card 17: a program creates objects for each click and never destroys some of them. In the twin
//! it destroys all of them.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::act::{Act, GuiKind, ObjectKind, ObjectPlan};
use crate::scenarios::windows::SLEEPS;
use crate::script::Step;

pub(super) const CARD: Card = Card {
    number: 17,
    name: "object-leak",
    rule: "object-leak",
    description: "a program leaks objects of the window manager, or handles",
    named: Named::WithoutCost(
        "nothing is slow before the limit is reached: the program that leaks is named",
    ),
    seconds: 10,
    plant,
};

/// Number of rounds in which objects are created and destroyed.
const ROUNDS: u32 = 60;
/// Objects that are created in each round, as for a window with its controls.
const MADE: u32 = 6;
const WINDOW: GuiKind = GuiKind {
    is_gdi: false,
    number: 1,
    name: "Window",
};
const FONT: GuiKind = GuiKind {
    is_gdi: true,
    number: 10,
    name: "Font",
};
const EVENT: ObjectPlan = ObjectPlan {
    kind: ObjectKind::Event,
    name: "",
};

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.process(image, "", &["user32.dll", "gdi32.dll"]);
    let click = format!(
        "{} user32!DispatchMessageW {}!CForm::OnCreate",
        root(image, "wWinMain"),
        image.alias
    );
    // The seed selects the leaked object: a window, a GDI object or a handle, whose events come
    // from three sources.
    let (creates, destroys, made, gone) = match scene.draw(0, 2) {
        0 => (
            "user32!CreateWindowExW nt!KiSystemServiceCopyEnd win32kfull!NtUserCreateWindowEx",
            "user32!DestroyWindow nt!KiSystemServiceCopyEnd win32kfull!NtUserDestroyWindow",
            Act::GuiCreates(WINDOW),
            Act::GuiDestroys,
        ),
        1 => (
            "gdi32!CreateFontIndirectW nt!KiSystemServiceCopyEnd win32kfull!NtGdiHfontCreate",
            "gdi32!DeleteObject nt!KiSystemServiceCopyEnd win32kfull!NtGdiDeleteObjectApp",
            Act::GuiCreates(FONT),
            Act::GuiDestroys,
        ),
        _ => (
            "KERNELBASE!CreateEventW ntdll!NtCreateEvent nt!KiSystemServiceCopyEnd nt!NtCreateEvent",
            "KERNELBASE!CloseHandle ntdll!NtClose nt!KiSystemServiceCopyEnd nt!NtClose",
            Act::HandleOpens(EVENT),
            Act::HandleCloses,
        ),
    };
    let (makes, destroys) = (
        scene.b.path(&[&click, creates]),
        scene.b.path(&[&click, destroys]),
    );
    let fills = scene.b.code(
        &[&click],
        &[&format!("{}!CForm::Fill", image.alias), "ntdll!memcpy"],
    );
    let waits = scene.b.waits(&[&root(image, "wWinMain"), SLEEPS]);
    // The twin destroys all objects of each round. The oldest are closed first, so the objects of a
    // round are destroyed in the order of their creation.
    let left = if scene.is_sick() { MADE } else { 0 };
    let mut steps = vec![Step::Sleep(waits, 300_000, 500_000)];
    for _ in 0..scene.strong(ROUNDS) {
        steps.push(Step::Sleep(waits, 90_000, 110_000));
        let makes = (0..MADE).map(|_| Step::Act(makes, made));
        steps.extend(scene.acts(std::iter::once(Step::Run(fills, 300, 900)).chain(makes)));
        steps.extend((left..MADE).map(|_| Step::Act(destroys, gone)));
    }
    let thread = scene
        .b
        .thread(program, 10, &format!("{}!wWinMain", image.alias));
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(waits, 300_000, 500_000),
            Step::Run(fills, 300, 900),
        ],
    );
    let culprit = format!("{} ({})", image.name, scene.b.pid(program));
    Planted {
        culprit,
        victims: vec![program],
    }
}
