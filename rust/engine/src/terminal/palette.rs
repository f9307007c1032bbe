//! The colours that a program is told when it asks.

use alacritty_terminal::vte::ansi::Rgb;

/// xterm's palette: 16 colours, a cube of 6×6×6, 24 greys; then light text on black.
pub(super) fn default_color(index: usize) -> Rgb {
    const BASIC: [u32; 16] = [
        0x00_00_00, 0xcd_00_00, 0x00_cd_00, 0xcd_cd_00, 0x00_00_ee, 0xcd_00_cd, 0x00_cd_cd, 0xe5_e5_e5, 0x7f_7f_7f,
        0xff_00_00, 0x00_ff_00, 0xff_ff_00, 0x5c_5c_ff, 0xff_00_ff, 0x00_ff_ff, 0xff_ff_ff,
    ];
    let level = |step: usize| if step == 0 { 0 } else { u8::try_from(55 + step * 40).unwrap_or(u8::MAX) };
    match index {
        0..=15 => {
            let [_, r, g, b] = BASIC[index].to_be_bytes();
            Rgb { r, g, b }
        }
        16..=231 => {
            let cube = index - 16;
            Rgb { r: level(cube / 36), g: level(cube / 6 % 6), b: level(cube % 6) }
        }
        232..=255 => {
            let grey = u8::try_from(8 + (index - 232) * 10).unwrap_or(u8::MAX);
            Rgb { r: grey, g: grey, b: grey }
        }
        257 => Rgb { r: 0, g: 0, b: 0 },
        _ => Rgb { r: 0xe5, g: 0xe5, b: 0xe5 },
    }
}
