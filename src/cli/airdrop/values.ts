import { parseAddress } from '../../registry/primitives/address.js'

/** Values of options, as they were typed. Each throws an Error with one sentence that names the option. */

/** The 20 bytes of a contract's or an account's address. */
export function addressOf(option: string, text: string): Buffer {
  const address = parseAddress(text)
  if (address === 'bad_checksum') throw new Error(`${option}: the checksum of ${text} (EIP-55) is wrong.`)
  if (address === 'unsupported_address' || address.type !== 'evm')
    throw new Error(`${option} is an EVM address: 0x and 40 hex digits.`)
  return address.bytes.subarray(1)
}

/** Unix seconds, of seconds or of an ISO date: `2027-01-31` or `2027-01-31T12:00:00Z`. */
export function secondsOf(option: string, text: string): number {
  if (/^[0-9]{9,11}$/.test(text)) return Number(text)
  const ms = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/.test(text) ? Date.parse(text) : Number.NaN
  // a 30th of February is read as one of March
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text.slice(0, 10))
    throw new Error(`${option} is a date such as 2027-01-31 or 2027-01-31T12:00:00Z, or Unix seconds.`)
  return ms / 1_000
}

export function blockOf(option: string, text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new Error(`${option} is a block number.`)
  return Number(text)
}
