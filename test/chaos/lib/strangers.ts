import { setMaxListeners } from 'node:events'
import { encodeFunctionData, keccak256, toHex, zeroAddress } from 'viem'
import { testTokenAbi } from '../../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { communityPaymentsAbi } from '../../../src/chains/evm/contracts/index.js'
import { between, pick, sequence } from '../../../src/testing/faultProxy/random.js'
import { PRICE_WEI, paymentFor } from './community.js'
import { type Deed, type Stranger, send } from './stranger.js'
import { MESSAGE_DEEDS } from './strangerMessages.js'
import { actAtPace, STALLS } from './wallets.js'

const PACE_MS = { min: 1_500, max: 5_000 }
/** Ways in which a token misbehaves. */
const MODES = 10

/** Counts of what strangers sent, by kind. */
export type Dust = Record<string, number>

/** Lets the strangers throw dust at every contract until the signal. */
export async function runStrangers(
  strangers: readonly Stranger[],
  seed: number,
  signal: AbortSignal,
  dust: Dust,
): Promise<void> {
  setMaxListeners(0, signal)
  await Promise.all(
    strangers.map((stranger) => {
      const next = sequence(seed, 'stranger', stranger.chain.label)
      return actAtPace(next, PACE_MS, signal, async () => {
        const kind = pick(next(), KINDS)
        await DEEDS[kind](stranger, next)
        dust[kind] = (dust[kind] ?? 0) + 1
      })
    }),
  )
}

/** A name that wallets pay for too. */
const someStall = (next: () => number): string => `stall-${between(next(), 1, STALLS)}`

const DEEDS = {
  ...MESSAGE_DEEDS,
  /** A payment of one unit, for a name that others want. */
  'payments of 1 wei': async ({ chain, account }, next) => send(chain, account, paymentFor(chain, someStall(next), 1n)),
  /** The price, to the payer itself. */
  'payments to oneself': async ({ chain, account }, next) =>
    send(chain, account, paymentFor(chain, someStall(next), PRICE_WEI, { recipient: account.address })),
  'payments for nobody': async ({ chain, account }, next) =>
    send(chain, account, paymentFor(chain, someStall(next), 1n, { community: 'nobody-has-this' })),
  /** In a token whose behaviour changes from payment to payment. */
  'hostile tokens': async ({ chain, account, token }, next) => {
    const mode = { functionName: 'setMode', args: [between(next(), 0, MODES - 1)] } as const
    await send(chain, account, { to: token, data: encodeFunctionData({ abi: testTokenAbi, ...mode }) })
    await send(chain, account, paymentFor(chain, someStall(next), pick(next(), [1n, PRICE_WEI]), { token }))
  },
  /** Calls that mean nothing, to whatever contract there is. */
  'bogus messages': async ({ chain, account }, next) => {
    const bytes = keccak256(toHex(next().toString()))
    await send(chain, account, { to: pick(next(), [chain.contract, chain.payments]), data: bytes, value: 1n })
  },
  withdrawals: async ({ chain, account, token }, next) => {
    const args = [pick(next(), [zeroAddress, token]), account.address] as const
    const data = encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'withdraw', args })
    await send(chain, account, { to: chain.payments, data })
  },
} satisfies Record<string, Deed>

const KINDS = Object.keys(DEEDS) as (keyof typeof DEEDS)[]
