import {
  ChainUnavailableError,
  type PaymentChainPort,
  type PaymentTx,
  type RegistrationQuote,
  type RegistrationRequest,
} from '../../../src/chains/chain.js'
import type { ChainFamily } from '../../../src/registry/families.js'
import { orderOf } from './payment.js'
import type { LedgerPayment, Order } from './server.js'

/** Facts about the family: accounts are EVM addresses, ids of payments 64 bytes in base58. */
export const LEDGER = {
  key: 'ledger',
  name: 'the ledger',
  label: 'ledger',
  addressType: 'evm',
  txIdForm: 'solana',
  amountBits: 63n,
} as const satisfies ChainFamily

/** Wei of a unit of the ledger's coin. */
const WEI_PER_UNIT = 10n ** 12n
const QUOTE_LIFETIME_S = 600

/** The ledger as this process knows it. */
export interface Ledger {
  label: string
  /** Number in the database. */
  chain: number
  pollMs: number
  quoteKeys: readonly Uint8Array[]
  /** @throws ChainUnavailableError */
  ask<Answer>(path: string): Promise<Answer>
}

export interface LedgerQuote extends RegistrationQuote {
  orders: readonly Order[]
}

interface LedgerPort extends PaymentChainPort {
  quote(request: RegistrationRequest): Promise<LedgerQuote>
}

/** Asks the ledger over HTTP. */
export const askerOf =
  (url: string): Ledger['ask'] =>
  async <Answer>(path: string) => {
    try {
      return (await (await fetch(`${url}${path}`)).json()) as Answer
    } catch (error) {
      throw new ChainUnavailableError(`the ledger at ${url} does not answer`, { cause: error })
    }
  }

/** The ledger as the API sees it: names of the hub are paid for, and nothing else. */
export const ledgerPort = ({ label, chain, quoteKeys, ask }: Ledger): LedgerPort => ({
  family: LEDGER,
  network: 'mainnet',
  label,
  chain,
  role: 'spoke',
  chainId: null,
  gasToken: { symbol: 'LDG', decimals: 6 },
  isWatchOnly: false,
  explorer: null,
  name: 'Ledger',
  publicRpcUrls: [],
  contract: 'ledger',
  communityPayments: null,
  tokenBalance: async () => 0n,
  communityPayment: async () => {
    throw new ChainUnavailableError('the ledger takes no payments for community names')
  },
  refunds: { owed: async () => [] },
  async transaction(id): Promise<PaymentTx> {
    const paid = await ask<LedgerPayment | null>(`/payments/${id}`)
    if (!paid) return { state: 'unknown' }
    return {
      state: 'mined',
      block: paid.height,
      succeeded: true,
      isOurs: true,
      isRegistration: true,
      isConfirmed: true,
      confirmations: { have: 1, need: 1 },
    }
  },
  async quote({ sender, names }) {
    const quoted = names.map((one) => ({ ...one, amount: one.amountWei / WEI_PER_UNIT }))
    const expiresAt = Math.floor(Date.now() / 1_000) + QUOTE_LIFETIME_S
    return {
      gasToken: { symbol: 'LDG', decimals: 6 },
      registrationFee: quoted.reduce((sum, { amount }) => sum + amount, 0n),
      bridgeFee: 0n,
      names: quoted,
      orders: quoted.map(({ name, amountWei, amount }) =>
        orderOf(quoteKeys[0]!, {
          payer: sender,
          name,
          amountWei: `${amountWei}`,
          units: `${amount}`,
          expiresAt,
        }),
      ),
    }
  },
})
