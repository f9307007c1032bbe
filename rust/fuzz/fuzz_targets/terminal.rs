//! Whatever a program writes, the screen is the same however the reads cut it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perfq_engine::terminal::State;
use perfq_engine::terminal::screen::{Screen, Size};

fn look(screen: &mut Screen) -> (String, (usize, usize), bool, bool, String) {
    screen.absorb_damage();
    let title = screen.title().to_owned();
    (screen.joined(), screen.cursor(), screen.cursor_visible(), screen.alternate(), title)
}

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    let size = Size { cols: 20, rows: 6 };
    let (mut whole, mut pieces) = (State::new(size, None), State::new(size, None));
    let (mut said, mut said_in_pieces) = (Vec::new(), Vec::new());
    whole.feed(1, bytes, |reply| said.extend(reply));
    for piece in bytes.chunks(usize::from(cut).max(1)) {
        pieces.feed(1, piece, |reply| said_in_pieces.extend(reply));
    }
    assert_eq!(look(whole.screen_mut()), look(pieces.screen_mut()));
    assert_eq!(said, said_in_pieces);
    whole.screen_mut().resize(Size { cols: 40, rows: 3 });
    look(whole.screen_mut());
});
