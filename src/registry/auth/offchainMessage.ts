/**
 * Solana's off-chain message envelope, which hardware wallets sign instead of a bare message (which could be a
 * transaction). Supported are versions 0 and 1 of the specification (Anza, SRFC 38), and the short header of early
 * implementations (`solana sign-offchain-message`, Ledger's Solana app before 1.8).
 */

/** Prefix of every envelope. No transaction begins with it. */
const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1')
/** Application domain in the envelopes of wallets that set no domain. */
const NO_APPLICATION_DOMAIN = Buffer.alloc(32)
/** Formats that hardware wallets display and sign: ASCII, and UTF-8 of a limited length. */
const DEVICE_FORMATS = [0, 1] as const
const MAX_MESSAGE_BYTES = 0xffff

/**
 * All envelopes of a message that a wallet may have signed. Empty for a message of 0 or more than 65,535 bytes.
 * @param signer public key, 32 bytes: the only signer
 */
export function offchainEnvelopes(message: Buffer, signer: Uint8Array): Buffer[] {
  if (message.length === 0 || message.length > MAX_MESSAGE_BYTES) return []
  const length = Buffer.alloc(2)
  length.writeUInt16LE(message.length)
  const header = (version: number) => [SIGNING_DOMAIN, Buffer.of(version)]
  return [
    ...DEVICE_FORMATS.map((format) =>
      Buffer.concat([
        ...header(0),
        NO_APPLICATION_DOMAIN,
        Buffer.of(format, 1),
        signer,
        length,
        message,
      ]),
    ),
    ...DEVICE_FORMATS.map((format) =>
      Buffer.concat([...header(0), Buffer.of(format), length, message]),
    ),
    Buffer.concat([...header(1), Buffer.of(1), signer, message]),
  ]
}
