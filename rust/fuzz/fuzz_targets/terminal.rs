//! Whatever a program writes, the screen is the same however the reads cut it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::terminal::screen::{Screen, Size};

fn feed(screen: &mut Screen, mut bytes: &[u8], reply: &mut Vec<u8>) {
    while !bytes.is_empty() {
        let step = screen.step(bytes);
        reply.extend_from_slice(&step.reply);
        bytes = &bytes[step.used..];
    }
}

fn look(screen: &mut Screen) -> (String, (usize, usize), bool, bool, String) {
    screen.absorb_damage();
    let title = screen.title().to_owned();
    (screen.joined(), screen.cursor(), screen.cursor_visible(), screen.alternate(), title)
}

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    let size = Size { cols: 20, rows: 6 };
    let (mut whole, mut pieces) = (Screen::new(size), Screen::new(size));
    let (mut said, mut said_in_pieces) = (Vec::new(), Vec::new());
    feed(&mut whole, bytes, &mut said);
    for piece in bytes.chunks(usize::from(cut).max(1)) {
        feed(&mut pieces, piece, &mut said_in_pieces);
    }
    assert_eq!(look(&mut whole), look(&mut pieces));
    assert_eq!(said, said_in_pieces);
    whole.resize(Size { cols: 40, rows: 3 });
    look(&mut whole);
});
