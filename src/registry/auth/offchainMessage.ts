/**
 * Solana's off-chain message envelope, which devices sign in place of a bare message (a bare one might be a
 * transaction). Versions 0 and 1 of the specification (Anza's proposal "Off-chain message signing", SRFC 38), and the
 * short header of the first implementations (`solana sign-offchain-message`, Ledger's Solana app before 1.8).
 */

/** Can't begin a transaction. */
const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1')
/** Wallets leave the application domain zero where they are given none. */
const NO_APPLICATION_DOMAIN = Buffer.alloc(32)
/** Formats that devices display: ASCII, and UTF-8 of a limited length. A longer format is signed by no device. */
const DEVICE_FORMATS = [0, 1] as const
const MAX_LENGTH = 0xffff

/** Every envelope of a message that a wallet may have signed. @param signer 32 bytes, the one signer */
export function offchainEnvelopes(message: Buffer, signer: Uint8Array): Buffer[] {
  if (message.length === 0 || message.length > MAX_LENGTH) return []
  const length = Buffer.alloc(2)
  length.writeUInt16LE(message.length)
  const header = (version: number) => [SIGNING_DOMAIN, Buffer.of(version)]
  return [
    ...DEVICE_FORMATS.map((format) =>
      Buffer.concat([...header(0), NO_APPLICATION_DOMAIN, Buffer.of(format, 1), signer, length, message]),
    ),
    ...DEVICE_FORMATS.map((format) => Buffer.concat([...header(0), Buffer.of(format), length, message])),
    Buffer.concat([...header(1), Buffer.of(1), signer, message]),
  ]
}
