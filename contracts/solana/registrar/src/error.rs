/// Why an instruction is refused. Anchor numbers a program's own errors from 6000; `idl.json` lists the same, with
/// texts.
#[derive(Clone, Copy)]
pub enum Error {
    InvalidInstruction = 6000,
    WrongAccountCount,
    MissingSignature,
    NotWritable,
    WrongAddress,
    WrongOwner,
    InvalidAccountData,
    NotUpgradeAuthority,
    AlreadyInitialized,
    WrongAuthority,
    ReclaimOutOfRange,
    QuoteExpired,
    QuoteAlreadyPaid,
    ZeroLamports,
    Overflow,
    PaymentNotHeld,
    WrongPayer,
    NotReclaimable,
    InsufficientKept,
    TreasuryShort,
    UnsupportedRent,
    InvalidDestination,
    MalformedName,
    ZeroAmount,
    ZeroRecipient,
    NumberInUse,
    CommunityPaymentNotHeld,
    WrongBeneficiary,
    WrongToken,
    UnsupportedToken,
    WrongDecimals,
    NotATokenAccount,
    WrongTokenMint,
    WrongTokenOwner,
    NotAssociatedAccount,
}

pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    /// The code that the loader reports as `custom program error`.
    pub fn code(self) -> u64 {
        self as u64
    }
}

/// `Err(error)` unless `holds`.
pub fn require(holds: bool, error: Error) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(error)
    }
}
