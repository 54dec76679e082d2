//! Card 24, second part: a program checks signatures, and building the chain of certificates waits
//! for a server of revocation lists that does not answer. In the twin the lists are in the cache.

use super::scene::{Planted, Scene, root};
use super::{Card, Named};
use crate::plan::reason;
use crate::scenarios::windows::{SLEEPS, USER, WAIT_FOR_OBJECT};
use crate::script::{Ask, Step};
use crate::table::Port;

pub(super) const CARD: Card = Card {
    number: 24,
    name: "certificate-wait",
    rule: "certificate-wait",
    description: "a program checks signatures, and waits for a revocation server that does not answer",
    named: Named::WithCost,
    seconds: 13,
    plant,
};

const CHECKS: &str = "wintrust!WinVerifyTrust wintrust!SoftpubAuthenticode crypt32!CertGetCertificateChain \
    crypt32!CCertChainEngine::GetChainContext crypt32!ChainCreateCertificateChain";
const FETCHES: &str = "crypt32!CryptRetrieveObjectByUrlWithTimeout";
const LIBRARIES: [&str; 3] = ["wintrust.dll", "crypt32.dll", "winhttp.dll"];

fn plant(scene: &mut Scene) -> Planted {
    let image = scene.product();
    let program = scene.process(image, "/plugins", &LIBRARIES);
    let port = scene.b.port();
    fetcher(scene, program, port);
    let main = root(image, "CPlugins::LoadAll");
    let thread = scene
        .b
        .thread(program, 9, &format!("{}!CPlugins::LoadAll", image.alias));
    let asks = format!("{main} {CHECKS} {FETCHES} {WAIT_FOR_OBJECT}");
    let (sends, waits) = (
        scene.b.path(&[&main, CHECKS, FETCHES]),
        scene.b.waits(&[&asks]),
    );
    let hashes = scene.b.code(
        &[&main, CHECKS],
        &["crypt32!ICM_HashContent", "ntdll!memcpy"],
    );
    let loads = scene.b.code(
        &[&main],
        &["ntdll!LdrpLoadDllInternal", "ntdll!RtlAllocateHeap"],
    );
    let sleeps = scene.b.waits(&[&main, SLEEPS]);
    let file = scene.b.file(r"ProgramData\Microsoft\Crypto\cache.dat");
    let mut steps = vec![Step::Sleep(sleeps, 500_000, 700_000)];
    for _ in 0..2 {
        let (hash, load) = (scene.draw(3_000, 8_000), scene.draw(1_000, 4_000));
        let asks = Step::Ask(
            sends,
            Ask {
                port,
                file,
                waits,
                reason: reason::USER_REQUEST,
            },
        );
        let hashes = std::iter::once(Step::Run(hashes, hash, hash));
        let loads = [Step::Run(loads, load, load)];
        steps.extend(scene.operation(hashes.chain(scene.acts([asks])).chain(loads)));
        steps.push(Step::Sleep(sleeps, 100_000, 200_000));
    }
    scene.b.script(
        thread,
        &steps,
        &[
            Step::Sleep(sleeps, 300_000, 600_000),
            Step::Run(loads, 200, 400),
        ],
    );
    Planted {
        culprit: "revocation server".to_owned(),
        victims: vec![program],
    }
}

/// Adds the thread that fetches a list from its server, with its timeout.
fn fetcher(scene: &mut Scene, program: crate::table::Program, port: Port) {
    let begins = [
        USER,
        "ntdll!TppWorkerThread winhttp!HTTP_REQUEST_HANDLE::SendRequest",
    ];
    let takes = scene.b.waits(&[
        USER,
        "ntdll!TppWorkerThread ntdll!NtWaitForWorkViaWorkerFactory",
    ]);
    let waits = scene.b.waits(&[begins[0], begins[1], WAIT_FOR_OBJECT]);
    let answers = scene.b.path(&[
        begins[0],
        begins[1],
        "KERNELBASE!SetEvent ntdll!NtSetEvent nt!KeSetEvent",
    ]);
    let code = scene.b.code(&begins, &["winhttp!CFsm_SendRequest::RunSM"]);
    // The wait is a timeout, which depends on the client's setting and not on the load of the
    // machine.
    let (low, high) = match scene.is_sick() {
        true => (scene.strong(2_400_000), scene.strong(2_600_000)),
        false => (300, 800),
    };
    let thread = scene.b.thread(program, 8, "ntdll!TppWorkerThread");
    let steps = [
        Step::Take(takes, port),
        Step::Sleep(waits, low, high),
        Step::Run(code, 30, 90),
        Step::Answer(answers),
    ];
    scene.b.script(thread, &[], &steps);
}
