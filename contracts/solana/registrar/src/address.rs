use crate::error::{Error, Result};
use crate::syscalls::{self, Bytes};

/// A 32-byte address or word, compared eight bytes at a time (the loader aligns everything we read to 8 bytes).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Word([u64; 4]);

pub type Address = Word;

impl Word {
    pub const ZERO: Word = Word([0; 4]);

    pub const fn from_bytes(bytes: [u8; 32]) -> Word {
        let mut words = [0; 4];
        let mut i = 0;
        while i < 32 {
            words[i / 8] |= (bytes[i] as u64) << (8 * (i % 8));
            i += 1;
        }
        Word(words)
    }

    pub fn is(&self, other: &Word) -> bool {
        let (a, b) = (&self.0, &other.0);
        (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) == 0
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        unsafe { &*(self as *const Word as *const [u8; 32]) }
    }

    pub fn bytes(&self) -> Bytes {
        Bytes::of(self)
    }
}

pub const SYSTEM_PROGRAM: Address = Address::ZERO;

/// BPFLoaderUpgradeab1e11111111111111111111111
pub const UPGRADEABLE_LOADER: Address = Address::from_bytes([
    0x02, 0xa8, 0xf6, 0x91, 0x4e, 0x88, 0xa1, 0xb0, 0xe2, 0x10, 0x15, 0x3e, 0xf7, 0x63, 0xae, 0x2b, 0x00, 0xc2, 0xb9,
    0x3d, 0x16, 0xc1, 0x24, 0xd2, 0xc0, 0x53, 0x7a, 0x10, 0x04, 0x80, 0x00, 0x00,
]);

/// TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA
pub const TOKEN_PROGRAM: Address = Address::from_bytes([
    0x06, 0xdd, 0xf6, 0xe1, 0xd7, 0x65, 0xa1, 0x93, 0xd9, 0xcb, 0xe1, 0x46, 0xce, 0xeb, 0x79, 0xac, 0x1c, 0xb4, 0x85,
    0xed, 0x5f, 0x5b, 0x37, 0x91, 0x3a, 0x8c, 0xf5, 0x85, 0x7e, 0xff, 0x00, 0xa9,
]);

/// ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL
pub const ASSOCIATED_TOKEN_PROGRAM: Address = Address::from_bytes([
    0x8c, 0x97, 0x25, 0x8f, 0x4e, 0x24, 0x89, 0xf1, 0xbb, 0x3d, 0x10, 0x29, 0x14, 0x8e, 0x0d, 0x83, 0x0b, 0x5a, 0x13,
    0x99, 0xda, 0xff, 0x10, 0x84, 0x04, 0x8e, 0x7b, 0xd8, 0xdb, 0xe9, 0xf8, 0x59,
]);

pub const STATE_SEED: Bytes = Bytes::of_str("state");
pub const TREASURY_SEED: Bytes = Bytes::of_str("treasury");
pub const PAYMENT_SEED: Bytes = Bytes::of_str("payment");
pub const COMMUNITY_SEED: Bytes = Bytes::of_str("community");
pub const VAULT_SEED: Bytes = Bytes::of_str("vault");
/// As Anchor's `emit_cpi!` has it.
pub const EVENT_SEED: Bytes = Bytes::of_str("__event_authority");

/// The program-derived address of `seeds` with its canonical bump.
#[inline(never)]
pub fn find(seeds: &[Bytes], program: &Address) -> Result<(Address, u8)> {
    let mut address = Word::ZERO;
    let mut bump = 0u8;
    let status = unsafe {
        syscalls::sol_try_find_program_address(seeds.as_ptr(), seeds.len() as u64, program, &mut address, &mut bump)
    };
    match status {
        0 => Ok((address, bump)),
        _ => Err(Error::WrongAddress),
    }
}

/// The program-derived address of `seeds`, the last of which is a bump found before.
#[inline(never)]
pub fn create(seeds: &[Bytes], program: &Address) -> Result<Address> {
    let mut address = Word::ZERO;
    let status =
        unsafe { syscalls::sol_create_program_address(seeds.as_ptr(), seeds.len() as u64, program, &mut address) };
    match status {
        0 => Ok(address),
        _ => Err(Error::WrongAddress),
    }
}
