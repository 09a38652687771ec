import { familyOfLabel } from '../../../registry/families.js'
import { serviceInfo } from './service.js'
import type { Chain, Quote } from './types.js'

/** Symbol and decimals of a coin or token. */
export interface MoneyUnit {
  symbol: string
  decimals: number
}

/** Shortens a text of more than 16 characters to the form `0x1234…cdef`. */
export const shortText = (text: string): string =>
  text.length > 16 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text

/** Converts base units to a decimal number of coins or tokens. */
export function amountText(value: string, decimals: number): string {
  const digits = value.padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const whole = digits.slice(0, point)
  const fraction = digits.slice(point).replace(/0+$/, '')
  return fraction ? `${whole}.${fraction}` : whole
}

/** An amount with its symbol, such as `0.01 ETH`. @param value base units */
export const moneyText = (value: string, { symbol, decimals }: MoneyUnit): string =>
  `${amountText(value, decimals)} ${symbol}`

/** What a quote costs without gas, with its symbol: for EVM the value to send, else registration and bridge fee. */
export function quoteCostText(quote: Quote, { gasToken }: Chain): string {
  const { transactionData: data, registrationFee, bridgeFee } = quote
  const total = Array.isArray(data) ? BigInt(registrationFee) + BigInt(bridgeFee) : data.value
  return moneyText(String(total), gasToken)
}

/**
 * Parses a decimal number of coins or tokens.
 * @returns base units
 * @throws Error for anything but a number above zero with at most `decimals` decimals
 */
export function parseAmount(text: string, decimals: number): string {
  const [, whole, fraction = ''] = /^([0-9]{1,40})(?:\.([0-9]+))?$/.exec(text.trim()) ?? []
  if (whole === undefined || fraction.length > decimals || /^0*$/.test(whole + fraction))
    throw new Error(
      `“${text}” is no amount: a number above zero with at most ${decimals} decimals.`,
    )
  return BigInt(whole + fraction.padEnd(decimals, '0')).toString()
}

const CHAIN_NAME_BY_LABEL: Readonly<Record<string, string>> = {
  1: 'Ethereum',
  10: 'Optimism',
  56: 'BNB Chain',
  137: 'Polygon',
  8453: 'Base',
  81457: 'Blast',
  42161: 'Arbitrum',
  43114: 'Avalanche',
  98866: 'Plume',
  11155111: 'Sepolia',
  17000: 'Holesky',
}

/** The chain with a network label; undefined if the list does not have it. */
export const findChain = <C extends { network: string }>(
  chains: readonly C[] | undefined,
  label: string | null | undefined,
): C | undefined => chains?.find(({ network }) => network === label)

export function chainName(network: string): string {
  const { label, name } = familyOfLabel(network)
  const known = label === null ? (CHAIN_NAME_BY_LABEL[network] ?? `Chain ${network}`) : name
  return serviceInfo.isLocal ? `local ${known}` : known
}

/** Units of durations, each with its length in seconds. */
const DURATION_UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const

/** A duration in its largest unit, rounded down, such as `3 min`; `0 s` for less than a second. */
export function durationText(seconds: number): string {
  const [length, unit] = DURATION_UNITS.find(([length]) => seconds >= length) ?? [1, 's']
  return `${Math.floor(Math.max(0, seconds) / length)} ${unit}`
}

/** Age of a time, such as `3 min ago`; `now` for less than a second. @param ms Unix time */
export function agoText(ms: number, nowMs = Date.now()): string {
  const age = durationText((nowMs - ms) / 1_000)
  return age === '0 s' ? 'now' : `${age} ago`
}

/** An ISO 8601 time to the minute, such as `2026-11-28 14:33 UTC`. */
export const utcMinuteText = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`

/** A count with its noun, such as `1 name` and `2 names`. @param one the noun in the singular */
export const countText = (count: number, one: string): string =>
  `${count} ${one}${count === 1 ? '' : 's'}`

/** A number with separators, such as `12,345`. */
export const groupedDigits = (value: number): string => value.toLocaleString('en-US')
