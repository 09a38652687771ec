import type { ChainInfo } from './api.js'
import { h } from './dom.js'
import { state } from './state.js'

const CHAIN_NAMES: Record<string, string> = {
  ...{ 1: 'Ethereum', 10: 'Optimism', 56: 'BNB Chain', 137: 'Polygon', 8453: 'Base', 81457: 'Blast' },
  ...{ 42161: 'Arbitrum', 43114: 'Avalanche', 98866: 'Plume', 11155111: 'Sepolia', 17000: 'Holesky', solana: 'Solana' },
}

/** `Ethereum (ETH)` */
export const chainText = ({ network, gasToken }: ChainInfo): string =>
  `${CHAIN_NAMES[network] ?? network} (${gasToken.symbol})`

/** Select of a chain by its index. */
export const chainSelect = (key: string, chains: readonly ChainInfo[]): HTMLElement =>
  h(
    'select',
    { name: 'chain', 'data-key': key },
    ...chains.map((chain, i) => h('option', { value: String(i) }, chainText(chain))),
  )

/** Chains of the selected network that the signed-in wallet can send on. */
export const payableChains = (): ChainInfo[] =>
  state.chains.filter(
    (chain) =>
      chain.isTestnet === state.isTestnet &&
      chain.canRegister &&
      (chain.network === 'solana') === (state.session?.type === 'solana'),
  )

/** Formats an amount of the smallest unit in units of the token. */
export function amountText(value: string, decimals: number): string {
  const digits = value.padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  return fraction ? `${digits.slice(0, -decimals)}.${fraction}` : digits.slice(0, -decimals)
}

/** Parses typed units of a token into the smallest unit. @throws Error for anything but a number above zero */
export function amountOf(text: string, decimals: number): string {
  const [, whole, fraction = ''] = /^([0-9]{1,40})(?:\.([0-9]+))?$/.exec(text.trim()) ?? []
  if (whole === undefined || fraction.length > decimals || /^0*$/.test(whole + fraction))
    throw new Error(`“${text}” is no amount: a number above zero with at most ${decimals} decimals.`)
  return BigInt(whole + fraction.padEnd(decimals, '0')).toString()
}
