//! torch's random numbers on the CPU: mt19937, and the rules by which its draws become numbers.
//!
//! The rules were checked bit for bit against torch 2.15.

use rand_mt::Mt;

/// The seed of a generator that no one seeded, as torch has it.
const DEFAULT_SEED: u64 = 67_280_421_310_721;

/// A random number generator.
#[derive(Clone, Debug)]
pub struct Generator {
    twister: Mt,
    seed: u64,
    /// The second of a pair of normal numbers that a single draw left over.
    pub(crate) next_normal: Option<f64>,
}

impl Default for Generator {
    fn default() -> Self {
        Self::new(DEFAULT_SEED)
    }
}

impl Generator {
    /// A generator in the state that `torch.manual_seed(seed)` gives; of the seed the low 32 bits
    /// count.
    pub fn new(seed: u64) -> Self {
        Self {
            twister: Mt::new(seed as u32),
            seed,
            next_normal: None,
        }
    }

    /// What it was seeded with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// 32 random bits: one draw.
    pub fn next_u32(&mut self) -> u32 {
        self.twister.next_u32()
    }

    /// 64 random bits: two draws, the first is the high half.
    pub fn next_u64(&mut self) -> u64 {
        let high = u64::from(self.next_u32());
        high << 32 | u64::from(self.next_u32())
    }

    /// A number of `[0, 1)` with 24 bits: one draw.
    pub fn next_f32(&mut self) -> f32 {
        (self.next_u32() & 0x00ff_ffff) as f32 * (1.0 / 16_777_216.0)
    }

    /// A number of `[0, 1)` with 53 bits: two draws.
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() & 0x001f_ffff_ffff_ffff) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_draws_after_seed_0() {
        let mut generator = Generator::new(0);
        // torch.manual_seed(0); torch.rand(2)
        assert_eq!(generator.next_f32(), 0.496_256_6);
        assert_eq!(generator.next_f32(), 0.768_221_8);
    }
}
