import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ChainUnavailableError } from '../../src/chains/chain.js'
import type { SteppedRelayer } from '../support/bridgeWorld.js'
import { executeOf } from '../support/kill.js'
import { allMined } from '../support/miner.js'
import { useBridge, useNodeProxy } from '../support/useBridge.js'
import { finishOnce, useKeyElsewhere } from './deliveries.js'

/**
 * What a node says about a transaction is a hint. Whatever it says, a job ends as the transaction's hash and the
 * account's nonce show.
 */

/** An answer to a transaction: a JSON-RPC error, or the body of another answer. */
type Wording = { code?: number; message?: unknown; data?: unknown } | { body: string }

const said = (message: string, code = -32_000): Wording => ({ code, message })

/** What nodes and providers say, and what nobody has said yet. */
const WORDINGS: readonly (readonly [name: string, wording: Wording])[] = [
  ['geth: known', said('already known')],
  ['nethermind: known', said('AlreadyKnown', -32_010)],
  ['erigon: known', said('existing tx with same hash')],
  ['besu: known', said('Known transaction')],
  ['anvil: known', said('transaction already imported', -32_003)],
  ['parity: known', said('Transaction with the same hash was already imported.', -32_010)],
  ['a provider: known', said('ALREADY_EXISTS: already known')],
  ['invented: known', said('we have that one in our books')],
  ['invented: known, in German', said('Transaktion bereits vorhanden')],
  ['geth: used', said('nonce too low: next nonce 5, tx nonce 4')],
  ['nethermind: used', said('OldNonce, Current nonce: 5, nonce of rejected tx: 4.', -32_010)],
  ['parity: used', said('Transaction nonce is too low. Try incrementing the nonce.', -32_010)],
  ['Starknet-like: stale', said('stale transaction')],
  ['Cosmos: sequence', said('account sequence mismatch, expected 5, got 4: incorrect sequence')],
  ['invented: used', said('this slot of the account was spent')],
  ['geth: nonce gap', said('nonce too high')],
  ['nethermind: nonce gap', said('NonceGap, Future nonce. Expected nonce: 3', -32_010)],
  ['geth: underpriced', said('transaction underpriced: gas tip cap 1, minimum needed 30000000000')],
  ['geth: replacement', said('replacement transaction underpriced')],
  ['erigon: replacement', said('could not replace existing tx')],
  ['Filecoin: underpriced', said('feeCap 1 below chain minimum 2')],
  ['invented: underpriced', said('the sequencer expects a better offer')],
  ['geth: funds', said('insufficient funds for gas * price + value: balance 0, tx cost 21000')],
  ['geth: pool', said('txpool is full')],
  ['as a rate limit', said('the pool takes no more requests per second of this account', -32_005)],
  ['as a range', said('exceeds the maximum size of 3 blocks')],
  ['as a missing method', said('the method eth_sendRawTransaction does not exist', -32_601)],
  ['geth: delegated account', said('in-flight transaction limit reached for delegated accounts')],
  ['geth: gas', said('intrinsic gas too low: gas 20000, minimum needed 21000')],
  ['geth: block', said('exceeds block gas limit')],
  ['geth: node’s own cap', said('tx fee (1.50 ether) exceeds the configured cap (1.00 ether)')],
  ['geth: chain', said('invalid chain id for signer: have 1 want 2')],
  ['geth: sender', said('invalid sender')],
  ['parity: revert', said('Always failing transaction', -32_015)],
  ['a revert in data', { code: 3, message: 'execution reverted', data: '0xd93c0665' }],
  ['explained in data', { code: -32_603, message: 'Internal error', data: 'nonce too low' }],
  ['explained in an object', { code: -32_000, message: '', data: { message: 'already known' } }],
  ['only a code', { code: -32_003 }],
  ['a code as text', { code: '-32010' as never, message: 'rejected' }],
  ['a message that is no text', { code: -32_000, message: { reason: 'policy' } }],
  ['a page', { body: '<html><body><h1>403 Request blocked</h1></body></html>' }],
  ['an empty body', { body: '' }],
  ['an answer without a result', { body: '{"jsonrpc":"2.0","id":null}' }],
]

const world = useBridge()
const bridge = useNodeProxy(world)

/** The answer in which the proxy wraps a wording. */
const answerOf =
  (wording: Wording) =>
  (answer: string): string =>
    'body' in wording
      ? wording.body
      : JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(answer).id, error: wording })

/** Passes on a harmless question in place of a transaction. */
const withheld = (body: string): string => body.replace('eth_sendRawTransaction', 'web3_sha3')

const isSend = (method: string): boolean => method === 'eth_sendRawTransaction'

/** Pause before the next step while the only node rests, because it asked to wait, ms. */
const REST_MS = 50

/** A relayer that goes on after a step without a node, as its worker does. */
const patient = (relayer: SteppedRelayer): SteppedRelayer => ({
  ...relayer,
  async step() {
    for (;;)
      try {
        return await relayer.step()
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error
        await sleep(REST_MS)
      }
  },
})

let count = 0
/** Sends a message to a relayer whose only node is the proxy. */
async function begin(ending: string) {
  count += 1
  const relayer = patient(await world.restart({ hub: { rpcUrls: [bridge.url] } }))
  return { relayer, guid: await world.send(0, [`${ending}-${count}`]) }
}

it('has at least forty wordings', () => {
  expect(WORDINGS.length).toBeGreaterThanOrEqual(40)
})

describe.each(WORDINGS)('a node that says: %s', (_, wording) => {
  it('and has the transaction: it is mined, and nothing else is signed', async () => {
    const { relayer, guid } = await begin('taken')
    bridge.onCall = async (method) => (isSend(method) ? answerOf(wording) : undefined)
    for (let i = 0; i < 3; i++, world.aheadMs += 10_000) await world.run(relayer)
    await finishOnce(world, guid, relayer)
    const { state, failures } = await executeOf(world, guid)
    expect(state).toBe('confirmed')
    const sent = (await world.jobs()).filter(({ kind }) => kind === 'execute').at(-1)!
    // after a body that is not JSON-RPC, the hash may be asked for once more
    expect(failures).toBeLessThanOrEqual('body' in wording ? 1 : 0)
    expect(sent.txs).toHaveLength(1)
  })

  it('and does not have it yet: it is mined once the node takes it, at the nonce that it has', async () => {
    const { relayer, guid } = await begin('later')
    const nonce = await world.nonce()
    let refused = 0
    bridge.onCall = async (method, body) => {
      if (!isSend(method) || refused >= 2) return undefined
      refused += 1
      return { body: withheld(body), answer: answerOf(wording) }
    }
    for (let i = 0; i < 4; i++, world.aheadMs += 60_000) await world.run(relayer)
    await finishOnce(world, guid, relayer)
    expect(refused).toBe(2)
    expect((await executeOf(world, guid)).state).toBe('confirmed')
    // verification and execution
    expect(await world.nonce()).toBe(nonce + 2)
  })

  it('while somebody else used its nonce: it is parked, and nothing is sent at the next nonce', async () => {
    const { relayer, guid } = await begin('used')
    await relayer.step()
    await allMined(world.hub)
    const nonce = await world.nonce()
    let isUsed = false
    bridge.onCall = async (method, body) => {
      if (!isSend(method)) return undefined
      if (!isUsed) {
        isUsed = true
        await useKeyElsewhere(world, nonce)
      }
      return { body: withheld(body), answer: answerOf(wording) }
    }
    await world.run(relayer)
    world.aheadMs += 60_000
    await world.finish(relayer)
    expect(await executeOf(world, guid)).toMatchObject({
      state: 'parked',
      reason: 'nonce_taken',
      nonce: null,
    })
    expect(await world.executions(guid)).toBe(0)
    expect(await world.nonce()).toBe(nonce + 1)
  })
})
