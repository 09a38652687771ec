import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, keccak256, parseEther, parseGwei } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { encodePlaceBidsCalldata } from '../../src/chains/evm/bridge/calls.js'
import { isTerminalStatus } from '../../src/registry/status.js'
import { fundAddresses, localChainClients } from '../../src/testing/chains/localClients.js'
import { bridgeCall, type Stack } from '../../src/testing/index.js'
import { createClient } from '../siege/http.js'
import { createHistogram, type Histogram } from './histogram.js'

const EVERY_MS = 1_000
/** Number of registrations that a wallet sends before the next wallet takes over. */
const OF_A_WALLET = 10
/** Every twentieth registration is sent over the spoke. */
const SPOKE_EVERY = 20
const BID_WEI = parseEther('0.01')
const BID_GAS = 400_000n
const BRIDGE_GAS = 900_000n
const FEES = { maxFeePerGas: parseGwei('100'), maxPriorityFeePerGas: parseGwei('1') }
/** Local addresses that request statuses in turn, so that each stays under its rate limit. */
const ADDRESSES = ['127.0.3.1', '127.0.3.2', '127.0.3.3', '127.0.3.4']
const SOCKETS_EACH = 2
const POLL_MS = 2_000
const POLLED_AT_ONCE = 20
/** Number of the newest final registrations that look-ups ask for. */
const KEYS_KEPT = 1_000

/** A registration that is final. */
export interface Registered {
  name: string
  wallet: Hex
  tx: Hex
}

interface Sent extends Registered {
  sentMs: number
}

interface Registrations {
  /** Newest final registrations, at most a thousand. */
  keys: readonly Registered[]
  sent(): number
  finalized(): number
  open(): number
  /** The first registration that could not be sent, or has another last status than `finalized`. */
  lost(): string | null
  /** Times from sending to the status `finalized`, ms. */
  times: Histogram
  /** Settles after the signal, once no registration is open or `patienceMs` has passed. */
  done: Promise<void>
}

/** Sends registrations at a fixed rate until the signal, ten by each new wallet. Polls each until it is final. */
export function startRegistrations(
  stack: Stack<'mainnet'>,
  patienceMs: number,
  signal: AbortSignal,
): Registrations {
  const clients = ADDRESSES.map((address) => createClient(stack.api, address, SOCKETS_EACH))
  const times = createHistogram()
  const keys: Registered[] = []
  const open = new Map<Hex, Sent>()
  let count = 0
  let sent = 0
  let finalized = 0
  let lost: string | null = null
  const send = senderOf(stack)

  const sendAll = async (): Promise<void> => {
    const startedMs = performance.now()
    while (!signal.aborted) {
      const one = await send(count).catch((error: Error) => {
        lost ??= `sending registration ${count}: ${error.message}`
        return null
      })
      count += 1
      sent += 1
      if (one) open.set(one.tx, { ...one, sentMs: performance.now() })
      const waitMs = startedMs + count * EVERY_MS - performance.now()
      await sleep(Math.max(0, waitMs), undefined, { signal }).catch(() => {})
    }
  }

  const poll = async ({ sentMs, ...registered }: Sent, turn: number): Promise<void> => {
    const client = clients[turn % clients.length]!
    const path = `/v1/names/register/tx/${registered.tx}`
    const answer = await client.ask({ path }).catch(() => null)
    if (answer?.status !== 200) return
    const { status } = JSON.parse(answer.body) as { status: Parameters<typeof isTerminalStatus>[0] }
    if (!isTerminalStatus(status)) return
    open.delete(registered.tx)
    if (status !== 'finalized') {
      lost ??= `${registered.tx} (${registered.name}) is ${status}`
      return
    }
    finalized += 1
    times.add(performance.now() - sentMs)
    keys.push(registered)
    if (keys.length > KEYS_KEPT) keys.shift()
  }

  const follow = async (): Promise<void> => {
    let endMs = Number.POSITIVE_INFINITY
    while (performance.now() < endMs) {
      if (signal.aborted && endMs === Number.POSITIVE_INFINITY)
        endMs = performance.now() + patienceMs
      if (signal.aborted && open.size === 0) break
      const oldest = [...open.values()].slice(0, POLLED_AT_ONCE)
      await Promise.all(oldest.map(poll))
      await sleep(POLL_MS)
    }
    for (const client of clients) client.close()
  }

  return {
    keys,
    sent: () => sent,
    finalized: () => finalized,
    open: () => open.size,
    lost: () => lost,
    times,
    done: Promise.all([sendAll(), follow()]).then(() => {}),
  }
}

/** Creates the function that sends the registration with a given number. */
function senderOf({ networks }: Stack<'mainnet'>): (count: number) => Promise<Registered> {
  const { hub, spokes } = networks.mainnet
  const spoke = spokes[0]!
  let account: PrivateKeyAccount
  /** Next nonce of the wallet on each chain. */
  let nonces = { hub: 0, spoke: 0 }

  return async (count) => {
    if (count % OF_A_WALLET === 0) {
      account = privateKeyToAccount(generatePrivateKey())
      nonces = { hub: 0, spoke: 0 }
      await Promise.all([hub, spoke].map((chain) => fundAddresses(chain, [account.address])))
    }
    const isBridged = count % SPOKE_EVERY === SPOKE_EVERY - 1
    const name = `soak-${count}`
    const hubCalldata = encodePlaceBidsCalldata([{ name, amountWei: BID_WEI }], null)
    const bid = { to: hub.contracts.hub, data: hubCalldata, value: BID_WEI }
    const bridged = { from: account.address, hubCalldata, valueWei: BID_WEI, gas: BID_GAS }
    const call = isBridged ? await bridgeCall(spoke, bridged) : bid
    const at = isBridged ? spoke : hub
    const nonce = isBridged ? nonces.spoke : nonces.hub
    const raw = await account.signTransaction({
      ...call,
      ...FEES,
      type: 'eip1559',
      chainId: at.chainId,
      nonce,
      gas: isBridged ? BRIDGE_GAS : BID_GAS,
    })
    await localChainClients(at).reader.sendRawTransaction({ serializedTransaction: raw })
    if (isBridged) nonces.spoke += 1
    else nonces.hub += 1
    return { name, wallet: account.address, tx: keccak256(raw) }
  }
}
