//! The functions that the tests and intervals rest on: gamma, beta, the normal and Student's t.
//!
//! Formula numbers are those of the NIST Digital Library of Mathematical Functions (DLMF).
//! Must not know: what a probability is of.

use std::f64::consts::PI;

const ROUNDS: u32 = 10_000;
const TINY: f64 = 1e-300;

/// Logarithm of the gamma function of a positive number: Lanczos' approximation with g = 7 and
/// nine terms (C. Lanczos, SIAM J. Numer. Anal. B 1, 1964), good to about 1e-15; below 1/2 by
/// reflection (DLMF 5.5.3).
fn ln_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const FIRST: f64 = 0.999_999_999_999_809_9;
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let terms = TERMS.iter().zip(1_u8..).map(|(term, index)| term / (x + f64::from(index)));
    let sum = FIRST + terms.sum::<f64>();
    let t = x + G + 0.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// Away from zero, for the denominators of Lentz' algorithm.
fn off_zero(x: f64) -> f64 {
    if x.abs() < TINY { TINY } else { x }
}

/// A continued fraction `1 / (1 + d1 / (1 + d2 / ...))` by Lentz' algorithm as modified by
/// Thompson and Barnett (J. Comput. Phys. 64, 1986).
fn continued(term: impl Fn(f64) -> f64) -> f64 {
    let (mut numerator, mut denominator) = (1.0, 0.0);
    let mut value = 1.0;
    for round in 1..=ROUNDS {
        let d = term(f64::from(round));
        denominator = 1.0 / off_zero(1.0 + d * denominator);
        numerator = off_zero(1.0 + d / numerator);
        let change = numerator * denominator;
        value *= change;
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    1.0 / value
}

/// The regularised incomplete beta function I_x(a, b): the continued fraction DLMF 8.17.22, on
/// the side of the mean where it converges fast, else by symmetry (DLMF 8.17.4). `rest` is
/// 1 - x, which the caller may know better than by subtraction.
fn incomplete_beta(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if rest <= 0.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, rest, x);
    }
    let front = a * x.ln() + b * rest.ln() - (ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b));
    let term = |round: f64| {
        let m = (round / 2.0).floor();
        if round % 2.0 == 0.0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        }
    };
    front.exp() / a * continued(term)
}

/// Probability that a standard normal variable is above `z`: erfc(z / sqrt 2) / 2 (DLMF 7.18),
/// erf by its series (DLMF 7.6.2) up to z = 2, erfc by its continued fraction (DLMF 7.9.1)
/// beyond.
pub(super) fn normal_above(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_above(-z);
    }
    let square = z * z / 2.0;
    if z > 2.0 {
        let x = z / std::f64::consts::SQRT_2;
        return (-square).exp() / (2.0 * x * PI.sqrt()) * continued(|round| round / (2.0 * square));
    }
    let mut term = z / (2.0 * PI).sqrt() * (-square).exp();
    let mut sum = 0.0;
    for round in 0..ROUNDS {
        sum += term;
        if term <= sum * f64::EPSILON / 4.0 {
            break;
        }
        term *= z * z / f64::from(2 * round + 3);
    }
    0.5 - sum
}

/// Where a falling function of a positive number passes `level`, by doubling and halving.
fn crossing(level: f64, falling: impl Fn(f64) -> f64) -> f64 {
    let mut high = 1.0;
    while falling(high) > level && high < 1e150 {
        high *= 2.0;
    }
    let mut low = 0.0;
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if falling(middle) > level {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The z beyond which, on both sides together, a standard normal variable lies with probability
/// `outside` (between 0 and 1).
pub(super) fn normal_quantile(outside: f64) -> f64 {
    crossing(outside, |z| 2.0 * normal_above(z))
}

/// The t beyond which, on both sides together, Student's t with so many degrees of freedom lies
/// with probability `outside` (between 0 and 1): the t at which I_x(freedom/2, 1/2) is
/// `outside`, x = freedom / (freedom + t^2) (Abramowitz and Stegun 26.7.1 with 26.5.27).
pub(super) fn student_quantile(freedom: f64, outside: f64) -> f64 {
    crossing(outside, |t| {
        let sum = freedom + t * t;
        incomplete_beta(freedom / 2.0, 0.5, freedom / sum, t * t / sum)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} is not {b}");
    }

    #[test]
    fn known_values() {
        close(ln_gamma(0.5), PI.sqrt().ln());
        close(ln_gamma(10.0), 362_880_f64.ln());
        close(ln_gamma(0.25), 1.288_022_524_698_077_4);
        close(incomplete_beta(2.0, 3.0, 0.5, 0.5), 0.6875);
        close(incomplete_beta(1.0, 1.0, 0.3, 0.7), 0.3);
        close(normal_above(0.0), 0.5);
        close(normal_above(1.0), 0.158_655_253_931_457_05);
        close(normal_above(2.0), 0.022_750_131_948_179_21);
        close(normal_above(6.0), 9.865_876_450_376_98e-10);
        close(normal_above(-1.0), 0.841_344_746_068_542_9);
        close(normal_quantile(0.05), 1.959_963_984_540_054);
        close(student_quantile(1.0, 0.05), 12.706_204_736_174_698);
        close(student_quantile(2.0, 0.05), 4.302_652_729_749_462);
    }

    #[test]
    fn both_ways_of_the_normal_tail_meet_where_they_change() {
        let (below, above) = (normal_above(2.0), normal_above(2.0_f64.next_up()));
        assert!((below / above - 1.0).abs() < 1e-13, "{below} {above}");
    }
}
