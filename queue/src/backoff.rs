use crate::Millis;

/// client-go's `TypedItemExponentialFailureRateLimiter`: `base · 2ⁿ`, at most `max`
/// (`util/workqueue/default_rate_limiters.go`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    /// The delay after the first failure.
    pub base: Millis,
    /// The longest delay.
    pub max: Millis,
}

impl Backoff {
    /// The default of client-go and of both queues of controller-runtime: 5 ms up to 1000 s.
    pub const CLIENT_GO: Self = Self { base: 5, max: 1_000_000 };

    /// The default of the Flux controllers: 750 ms up to 15 min
    /// (`fluxcd/pkg/runtime/controller/rate_limiter.go`).
    pub const FLUX: Self = Self { base: 750, max: 900_000 };

    /// The delay that follows when `failures` are counted already.
    pub fn delay(&self, failures: u8) -> Millis {
        1_u64
            .checked_shl(u32::from(failures))
            .and_then(|factor| self.base.checked_mul(factor))
            .map_or(self.max, |delay| delay.min(self.max))
    }

    /// The count after one more failure. It stops where the delay stops growing, so that a key
    /// that fails for ever has finitely many states; no later delay depends on the difference.
    pub fn count(&self, failures: u8) -> u8 {
        if self.delay(failures) >= self.max { failures } else { failures.saturating_add(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_its_limit() {
        let delays: [Millis; 4] =
            core::array::from_fn(|n| Backoff::FLUX.delay(u8::try_from(n * 4).expect("fits")));
        assert_eq!(delays, [750, 12_000, 192_000, 900_000]);
        assert_eq!(Backoff::CLIENT_GO.delay(200), 1_000_000);
    }

    #[test]
    fn the_count_stops_where_the_delay_does() {
        let mut failures = 0;
        for _ in 0..300 {
            failures = Backoff::CLIENT_GO.count(failures);
        }
        assert_eq!(failures, 18);
        assert_eq!(Backoff { base: 0, max: 0 }.count(0), 0);
    }
}
