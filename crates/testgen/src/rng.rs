//! A small deterministic random number generator: the same seed gives the same numbers on every machine and in every
//! version, so a seed in a test's message is enough to see its failure again.

/// SplitMix64 (Steele, Lea and Flood 2014, with the constants of Vigna's public-domain version). Not for secrets.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator for the seed. Different seeds, even consecutive ones, give unrelated numbers.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next 64 bits, uniform.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The next 32 bits, uniform.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A number below `n`; 0 if `n` is 0. The bias is below 2^-32.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next_u32()) * u64::from(n)) >> 32) as u32
    }

    /// True in `percent` of 100 calls.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// An element of `of`; `None` if it is empty.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len() as u32) as usize)
    }

    /// An element of `of`, to be changed; `None` if it is empty.
    pub fn pick_mut<'a, T>(&mut self, of: &'a mut [T]) -> Option<&'a mut T> {
        of.get_mut(self.below(of.len() as u32) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    /// The first outputs for seed 1234567, as other implementations of the algorithm give them.
    #[test]
    fn known_answers() {
        let mut rng = Rng::new(1_234_567);
        let got: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(got, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn below_reaches_all_and_only() {
        let mut rng = Rng::new(1);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[rng.below(5) as usize] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(rng.below(0), 0);
    }
}
