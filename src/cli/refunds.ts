import type pg from 'pg'
import { type Refund, type RefundContext, refundsOf } from '../api/refunds/refunds.js'
import { refundsView } from '../api/v1/refunds.js'
import { createChainRpc, createEvmChain } from '../chains/evm/chain.js'
import { type ChainsFile, readChains, readEnvironment } from '../config/index.js'
import { findChain } from '../db/journal/chains.js'
import { paidNameText } from '../registry/payment/payment.js'
import { type Network, SOLANA_LABEL } from '../registry/primitives/network.js'
import { withPool } from './database.js'
import { printJson, table } from './output.js'

export interface RefundOptions {
  to?: string
  testnet?: boolean
  json?: boolean
}

/** `clusterd refunds`: prints what an address is owed, asking the chains. @throws Error for what is no address */
export async function showRefunds(address: string, { to, testnet, json }: RefundOptions): Promise<void> {
  const network = testnet ? 'testnet' : 'mainnet'
  const file = readChains(readEnvironment().chainsFile)
  const found = await withPool({ command: 'refunds', max: 4 }, async (pool) =>
    refundsOf(await contextOf(pool, network, file), address, to),
  )
  if (json) return printJson(refundsView(found))
  if (found.refunds.length === 0) console.log(`Nothing is owed to ${found.address} on the ${network}.`)
  else console.log(table([['OWED BY', 'NETWORK', 'AMOUNT', 'TOKEN', 'FOR', 'WHEN'], ...found.refunds.map(rowOf)]))
  if (found.isTruncated) console.log('There is more, shown once some of this is taken.')
  for (const label of found.unavailable) console.log(`Chain "${label}" does not answer: what it owes is not known now.`)
}

/** The chains of a network that the database knows, opened without the daemon. */
async function contextOf(pool: pg.Pool, network: Network, file: ChainsFile): Promise<RefundContext> {
  const chains: RefundContext['chains'][number][] = []
  for (const config of file.chains.filter((chain) => chain.network === network)) {
    const row = await findChain(pool, network, config.label)
    if (row) chains.push(createEvmChain({ config, chain: row.chain, rpc: createChainRpc(config) }))
  }
  return { network, pool, now: () => Date.now(), chains, solana: await clustersOf(pool, network, file) }
}

/** Solana's libraries load here. */
async function clustersOf(pool: pg.Pool, network: Network, { solana }: ChainsFile): Promise<RefundContext['solana']> {
  const config = solana[network]
  const row = config && (await findChain(pool, network, SOLANA_LABEL))
  if (!row) return []
  const [{ createClusterRpc }, { createRefundPort }, { createRegistrar }] = await Promise.all([
    import('../chains/solana/chain.js'),
    import('../chains/solana/owed.js'),
    import('../chains/solana/registrar.js'),
  ])
  const refunds = createRefundPort(createClusterRpc(config), createRegistrar(config.programId))
  return [{ network, chain: row.chain, refunds }]
}

const rowOf = ({ owedBy, network, amount, token, payments, fromMs, needsReceiver }: Refund): string[] => [
  owedBy,
  network ?? '-',
  `${amount}`,
  token,
  payments.map(paidNameText).join(', ') || (owedBy === 'hub' ? 'bids that won nothing' : 'refused payments'),
  fromMs === null ? (needsReceiver ? 'now, with --to' : 'now') : `from ${new Date(fromMs).toISOString()}`,
]
