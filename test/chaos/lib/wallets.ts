import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, keccak256, parseEther, parseGwei, toHex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { encodePlaceBidsCalldata } from '../../../src/chains/evm/bridge/calls.js'
import { fundAddresses } from '../../../src/testing/chains/localClients.js'
import {
  integerBetween,
  pickElement,
  seededRandomNumber,
} from '../../../src/testing/faultProxy/random.js'
import { bridgeCall } from '../../../src/testing/index.js'
import { seededRandomSequence } from '../../support/random.js'
import { PRICE_WEI, paymentFor, setUpCommunity } from './community.js'
import type { Ledger, SentTx } from './ledger.js'
import type { ChaosChain, ChaosWorld } from './world.js'

const WALLETS = 12
/** Names for which many wallets bid. */
const CONTESTED_NAMES = 60
/**
 * Probability that a wallet pays for a name below the community, number of such names, and probability that it pays too
 * little.
 */
const BUYING = 0.25
export const STALLS = 25
const UNDERPAID = 0.15
const PACE_MS = { min: 800, max: 3_000 }
const BID_WEI = parseEther('0.01')
const FEE_WEI = parseGwei('20')
const TIP_WEI = parseGwei('1')
/** A replacement has to offer at least a tenth more. */
const HIGHER_PERCENT = 125n

interface WalletAction {
  kind: 'bid' | 'batch' | 'bridge' | 'speed_up' | 'cancel' | 'buy'
  to: Hex
  data: Hex
  value: bigint
  gas: bigint
}

/**
 * Wallets that register from all chains, each with its own random numbers. Funds the accounts and creates the first
 * one's community. Runs before any reorg.
 */
export async function openWallets(world: ChaosWorld, seed: number): Promise<PrivateKeyAccount[]> {
  const { chains } = world
  const keys = Array.from({ length: WALLETS }, (_, i) => keccak256(toHex(`${seed}/wallet/${i}`)))
  const wallets = keys.map((key) => privateKeyToAccount(key))
  const addresses = wallets.map(({ address }) => address)
  await Promise.all(chains.map((chain) => fundAddresses(chain, addresses)))
  await setUpCommunity(world, keys[0]!, wallets[0]!)
  return wallets
}

/** Lets the wallets act until the signal. A failed send (during a reorg) is skipped. */
export async function runWallets(
  world: ChaosWorld,
  wallets: readonly PrivateKeyAccount[],
  ledger: Ledger,
  seed: number,
  signal: AbortSignal,
): Promise<void> {
  setMaxListeners(0, signal) // each wallet listens
  await Promise.all(
    wallets.map((account, i) =>
      runWallet(world, account, ledger, seededRandomSequence(seed, 'wallet', i), signal),
    ),
  )
}

async function runWallet(
  { hub, chains }: ChaosWorld,
  account: PrivateKeyAccount,
  ledger: Ledger,
  next: () => number,
  signal: AbortSignal,
): Promise<void> {
  await actAtPace(next, PACE_MS, signal, async () => {
    const chain = next() < 0.6 ? hub : pickElement(next(), chains)
    const action = await decide(hub, chain, account, next)
    // a wallet shows an error where the chain reorganizes meanwhile
    await perform(chain, account, action, ledger, next)
  })
}

/** Acts repeatedly, with random pauses, until the signal. A failed action is skipped. */
export async function actAtPace(
  next: () => number,
  paceMs: { min: number; max: number },
  signal: AbortSignal,
  act: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(integerBetween(next(), paceMs.min, paceMs.max), undefined, { signal }).catch(
      () => {},
    )
    if (!signal.aborted) await act().catch(() => {})
  }
}

/** Mostly contested names, sometimes a name of its own. */
export function someNames(next: () => number, most: number): string[] {
  const count = integerBetween(next(), 1, most)
  const names = Array.from({ length: count }, () =>
    next() < 0.6
      ? `contested-${integerBetween(next(), 1, CONTESTED_NAMES)}`
      : `own-${toHex(integerBetween(next(), 0, 2 ** 32)).slice(2)}`,
  )
  return [...new Set(names)]
}

/** A payment for a name for which others pay on other chains. Some are below the price. */
function buy(chain: ChaosChain, next: () => number): WalletAction {
  const name = `stall-${integerBetween(next(), 1, STALLS)}`
  const amountWei = next() < UNDERPAID ? PRICE_WEI - 1n : PRICE_WEI
  return { kind: 'buy', ...paymentFor(chain, name, amountWei) }
}

async function decide(
  hub: ChaosChain,
  chain: ChaosChain,
  account: PrivateKeyAccount,
  next: () => number,
): Promise<WalletAction> {
  if (next() < BUYING) return buy(chain, next)
  const isOnHub = chain === hub
  const names = someNames(next, isOnHub && next() < 0.3 ? 5 : 2)
  const hubCalldata = encodePlaceBidsCalldata(
    names.map((name) => ({ name, amountWei: BID_WEI })),
    null,
  )
  const valueWei = BID_WEI * BigInt(names.length)
  const gas = 300_000n + 100_000n * BigInt(names.length)
  if (isOnHub) {
    return {
      kind: names.length > 1 ? 'batch' : 'bid',
      to: hub.contract,
      data: hubCalldata,
      value: valueWei,
      gas,
    }
  }
  const { rpcUrl, chainId, contract } = chain
  const at = { rpcUrl, chainId, contracts: { spoke: contract } }
  const call = await bridgeCall(at, { from: account.address, hubCalldata, valueWei, gas })
  return { kind: 'bridge', ...call, gas: 900_000n }
}

/** Sends an action. Sometimes a replacement with higher fees follows, or a cancel. */
async function perform(
  chain: ChaosChain,
  account: PrivateKeyAccount,
  action: WalletAction,
  ledger: Ledger,
  next: () => number,
): Promise<void> {
  const nonce = await chain.reader.getTransactionCount({
    address: account.address,
    blockTag: 'pending',
  })
  await send(chain, account, action, nonce, 100n, ledger)
  const chance = next()
  if (chance < 0.12)
    await send(chain, account, { ...action, kind: 'speed_up' }, nonce, HIGHER_PERCENT, ledger)
  else if (chance < 0.2) await cancel(chain, account, nonce, ledger)
}

/** Uses up a nonce with a transfer to the sender itself. */
const cancel = (
  chain: ChaosChain,
  account: PrivateKeyAccount,
  nonce: number,
  ledger: Ledger,
): Promise<void> =>
  send(
    chain,
    account,
    { kind: 'cancel', to: account.address, data: '0x', value: 0n, gas: 21_000n },
    nonce,
    HIGHER_PERCENT,
    ledger,
  )

async function send(
  chain: ChaosChain,
  account: PrivateKeyAccount,
  { kind, to, data, value, gas }: WalletAction,
  nonce: number,
  feePercent: bigint,
  ledger: Ledger,
): Promise<void> {
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    nonce,
    gas,
    to,
    data,
    value,
    maxFeePerGas: (FEE_WEI * feePercent) / 100n,
    maxPriorityFeePerGas: (TIP_WEI * feePercent) / 100n,
  })
  const hash = keccak256(raw)
  // a transaction may be sent although its answer got lost
  ledger.add({
    hash,
    raw,
    label: chain.label,
    sender: account.address.toLowerCase() as Hex,
    nonce,
    kind,
  })
  await chain.reader.sendRawTransaction({ serializedTransaction: raw })
}

/**
 * Makes sure that no transaction waits for a nonce that a reorg freed: a cancel uses up each such nonce, and is
 * awaited.
 */
export async function settleWallets(
  { chains }: ChaosWorld,
  wallets: readonly PrivateKeyAccount[],
  ledger: Ledger,
  deadlineMs: number,
): Promise<void> {
  const end = performance.now() + deadlineMs
  for (const chain of chains) {
    for (const account of wallets) {
      const sender = account.address.toLowerCase()
      const nonces = ledger.txs
        .filter((tx) => tx.label === chain.label && tx.sender === sender)
        .map(({ nonce }) => nonce)
      const wanted = Math.max(-1, ...nonces) + 1
      for (;;) {
        const used = await chain.reader.getTransactionCount({ address: account.address })
        if (used >= wanted) break
        if (performance.now() > end)
          throw new Error(`chain ${chain.label}: nonce ${used} of ${sender} is never used`)
        const pending = await chain.reader.getTransactionCount({
          address: account.address,
          blockTag: 'pending',
        })
        if (pending < wanted) await cancel(chain, account, pending, ledger).catch(() => {})
        await sleep(100)
      }
    }
  }
}

/** Handles transactions that a reorg dropped from their blocks. Most are sent again, as a node's mempool does. */
export async function bringBack(
  chain: ChaosChain,
  lost: readonly SentTx[],
  seed: number,
): Promise<number> {
  let brought = 0
  for (const { hash, raw } of lost) {
    if (seededRandomNumber(seed, 'bring back', hash) < 0.3) continue
    await chain.reader.sendRawTransaction({ serializedTransaction: raw }).then(
      () => {
        brought += 1
      },
      () => {},
    )
  }
  return brought
}
