import { formatUnits, type Hex } from 'viem'
import type { ChainFunds } from '../../chains/evm/funds.js'
import type { solanaFunds } from './solana.js'

/** A chain's money as it is shown. */
export interface ShownChain extends ChainFunds {
  chain: string
  symbol: string
  /** Days that a relayer's balance lasts at the spending of the last 24 hours; null where that is 0 or not known. */
  daysLeft: Record<Hex, number | null>
}

/** One line for each amount; amounts of tokens are base units. */
export function chainLines({ chain, symbol, hub, payments, relayers, daysLeft }: ShownChain): string[] {
  const coins = (wei: bigint) => `${formatUnits(wei, 18)} ${symbol}`
  const line = (what: string, text: string) => `chain ${chain}, ${what}: ${text}`
  return [
    ...(hub ? [line('hub', `keeps ${coins(hub.keptWei)}, owes ${coins(hub.owedWei)} to bidders`)] : []),
    ...payments.map(({ token, owed, payments: count }) =>
      line('payments', `holds ${token === 'native' ? coins(owed) : `${owed} of ${token}`}, of ${count} payments`),
    ),
    ...relayers.map(({ address, balanceWei }) => {
      const days = daysLeft[address]
      const lasts =
        days === null || days === undefined ? '' : `, lasts ${days < 10 ? days.toFixed(1) : Math.round(days)} days`
      return line('relayer', `${address} has ${coins(balanceWei)}${lasts}`)
    }),
  ]
}

const SOL_DECIMALS = 9

export function solanaLines(funds: Awaited<ReturnType<typeof solanaFunds>>): string[] {
  const { keptLamports, heldLamports, treasuryAuthority, relayAuthority } = funds
  const sol = (lamports: bigint) => `${formatUnits(lamports, SOL_DECIMALS)} SOL`
  return [
    `solana, treasury: keeps ${sol(keptLamports)} for ${treasuryAuthority}, holds ${sol(heldLamports)} of payers`,
    `solana, relay authority: ${relayAuthority.address} has ${sol(relayAuthority.lamports)}`,
  ]
}
