/** Text and stored forms of an address type that can pay, and of the transaction ids on its chains. */
export interface AddressAndTxIdForms {
  /** Type byte of a stored address, which precedes the raw address. Never renumber. */
  code: number
  /** Length of a raw address. In a 32-byte word a shorter address is padded with zeros on the left. */
  bytes: number
  /** Raw address and canonical text of an input; null for an input of another form. */
  read(text: string): { raw: Buffer; text: string } | 'bad_checksum' | null
  /** The canonical text of a raw address. */
  text(raw: Buffer): string
  /** Ids of transactions. Null where another address type has the same form of ids. */
  tx: {
    /** Length of an id. The length identifies the form, so no two forms have the same length. */
    bytes: number
    parse(input: string): Buffer | null
    text(id: Uint8Array): string
  } | null
}
