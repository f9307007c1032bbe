//! MT19937, the stream of `CPython`'s `random.Random(seed)`.
//!
//! Sources: Matsumoto and Nishimura, "Mersenne Twister" (1998), for the generator and
//! `init_by_array`; `CPython`'s `random.Random.seed` (an integer is split into 32-bit words, least
//! significant first) and `Random._randbelow_with_getrandbits` for the draws.

const N: usize = 624;
const M: usize = 397;
const MATRIX_A: u32 = 0x9908_b0df;
const UPPER_MASK: u32 = 0x8000_0000;
const LOWER_MASK: u32 = 0x7fff_ffff;

/// A Mersenne Twister seeded as `CPython` seeds `random.Random(seed)`.
#[derive(Clone)]
pub struct Mt19937 {
    state: [u32; N],
    index: usize,
}

impl Mt19937 {
    /// Seeds with a non-negative integer, as `random.Random(seed)` does.
    pub fn new(seed: u64) -> Self {
        let low = (seed & 0xffff_ffff) as u32;
        let high = (seed >> 32) as u32;
        if high == 0 { Self::from_key(&[low]) } else { Self::from_key(&[low, high]) }
    }

    fn from_word(seed: u32) -> Self {
        let mut state = [0u32; N];
        state[0] = seed;
        for i in 1..N {
            let previous = state[i - 1] ^ (state[i - 1] >> 30);
            #[allow(clippy::cast_possible_truncation)] // i < 624
            let i_word = i as u32;
            state[i] = 1_812_433_253u32.wrapping_mul(previous).wrapping_add(i_word);
        }
        Self { state, index: N }
    }

    /// Seeds with several words at once: a stream of its own for each key. `key` must not be empty.
    ///
    /// `CPython` seeds in the same way with the integer whose 32-bit words these are, least significant first.
    #[allow(clippy::cast_possible_truncation)] // keys are short
    pub fn from_key(key: &[u32]) -> Self {
        let mut rng = Self::from_word(19_650_218);
        let mt = &mut rng.state;
        let (mut i, mut j) = (1usize, 0usize);
        for _ in 0..N.max(key.len()) {
            let mixed = (mt[i - 1] ^ (mt[i - 1] >> 30)).wrapping_mul(1_664_525);
            mt[i] = (mt[i] ^ mixed).wrapping_add(key[j]).wrapping_add(j as u32);
            i += 1;
            j += 1;
            if i >= N {
                mt[0] = mt[N - 1];
                i = 1;
            }
            if j >= key.len() {
                j = 0;
            }
        }
        for _ in 0..N - 1 {
            let mixed = (mt[i - 1] ^ (mt[i - 1] >> 30)).wrapping_mul(1_566_083_941);
            mt[i] = (mt[i] ^ mixed).wrapping_sub(i as u32);
            i += 1;
            if i >= N {
                mt[0] = mt[N - 1];
                i = 1;
            }
        }
        mt[0] = UPPER_MASK;
        rng
    }

    fn refill(&mut self) {
        let twist = |upper: u32, lower: u32| {
            let y = (upper & UPPER_MASK) | (lower & LOWER_MASK);
            (y >> 1) ^ if y & 1 == 0 { 0 } else { MATRIX_A }
        };
        let mt = &mut self.state;
        for k in 0..N - M {
            mt[k] = mt[k + M] ^ twist(mt[k], mt[k + 1]);
        }
        for k in N - M..N - 1 {
            mt[k] = mt[k + M - N] ^ twist(mt[k], mt[k + 1]);
        }
        mt[N - 1] = mt[M - 1] ^ twist(mt[N - 1], mt[0]);
        self.index = 0;
    }

    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.index >= N {
            self.refill();
        }
        let mut y = self.state[self.index];
        self.index += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// `Random.randrange(bound)`: uniform in `0..bound`, by rejection. `bound` must not be 0.
    pub fn randrange(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "randrange needs a bound of at least 1");
        let bits = u32::BITS - bound.leading_zeros();
        loop {
            let draw = self.next_u32() >> (u32::BITS - bits);
            if draw < bound {
                return draw;
            }
        }
    }

    /// `Random.random()`: a float in [0, 1) with 53 random bits.
    pub fn random(&mut self) -> f64 {
        let a = f64::from(self.next_u32() >> 5);
        let b = f64::from(self.next_u32() >> 6);
        (a * 67_108_864.0 + b) / 9_007_199_254_740_992.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_stream_of_init_by_array_is_reproduced() {
        // First outputs published with the authors' reference code for this key.
        let mut rng = Mt19937::from_key(&[0x123, 0x234, 0x345, 0x456]);
        let first: Vec<u32> = (0..5).map(|_| rng.next_u32()).collect();
        assert_eq!(first, [1_067_595_299, 955_945_823, 477_289_528, 4_107_218_783, 4_228_976_476]);
    }

    #[test]
    fn randrange_stays_below_its_bound_at_powers_of_two() {
        let mut rng = Mt19937::new(186);
        for bound in [1u32, 2, 3, 4, 255, 256, 257, 1 << 19] {
            for _ in 0..200 {
                assert!(rng.randrange(bound) < bound);
            }
        }
    }
}
