//! Colors of modules: a module has the same one in every picture.

/// Color of frames that belong to no module: processes, threads, stacks that were not recorded.
pub(super) const NO_MODULE: &str = "#d8d8d8";

/// Color of the pieces for frames that are not drawn.
pub(super) const REST: &str = "#f0f0f0";

/// Returns the color of a module, ignoring the case of its name: light enough for black letters.
pub(super) fn of(module: &str) -> String {
    // FNV-1a, which is the same everywhere.
    let hash = module
        .to_lowercase()
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
    // The lower bits of short texts differ too little.
    let hash = hash ^ hash >> 29;
    let hue = (hash % 360) as i32;
    let lightness = 70 + (hash / 360 % 12) as i32;
    let [red, green, blue] = rgb(hue, 62, lightness);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Converts hue in degrees, saturation and lightness in per cent, to red, green and blue of 0 to
/// 255.
fn rgb(hue: i32, saturation: i32, lightness: i32) -> [u8; 3] {
    // In units of 1/10,000.
    let reach = saturation * lightness.min(100 - lightness);
    [0, 8, 4].map(|offset| {
        let place = (offset * 30 + hue) % 360;
        let slope = (place - 90).min(270 - place).clamp(-30, 30);
        let part = lightness * 100 - reach * slope / 30;
        (part * 255 / 10_000).clamp(0, 255) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hues_are_those_of_the_wheel() {
        for (hue, expected) in [
            (0, [255, 0, 0]),
            (60, [255, 255, 0]),
            (120, [0, 255, 0]),
            (240, [0, 0, 255]),
        ] {
            assert_eq!(rgb(hue, 100, 50), expected, "{hue}");
        }
        assert_eq!(rgb(77, 0, 100), [255, 255, 255]);
        assert_eq!(of("NTDLL.dll"), of("ntdll.dll"));
        assert_ne!(of("ntdll.dll"), of("ntoskrnl.exe"));
    }
}
