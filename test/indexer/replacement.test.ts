import type { Hex } from 'viem'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Context, createRequestContexts } from '../../src/api/http/context.js'
import type { TxStatus } from '../../src/api/status/decide.js'
import { evmTxStatus } from '../../src/api/status/evm.js'
import { createEvmChain, createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { readTransaction } from '../../src/chains/evm/transactions.js'
import type { RpcCall } from '../../src/chains/rpc/evm.js'
import type { ChainIndexer } from '../../src/indexer/evm/chainIndexer.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import {
  BASE_GAS_PRICE_WEI,
  type HubChain,
  openHubChain,
  type SignedTx,
} from '../model/hubChain.js'
import { startHubWorld } from '../support/hubWorld.js'
import { holdBlocks } from '../support/miner.js'
import { useWorld } from '../support/useWorld.js'

const HALF_AN_HOUR_MS = 30 * 60_000
/** Anvil holds the state of some 500 blocks. */
const BEYOND_STATE_BLOCKS = 900

const world = useWorld(() => startHubWorld())
let chain: HubChain
let context: () => Context
let indexer: ChainIndexer
let sender = 0
beforeAll(async () => {
  chain = openHubChain(world)
  const { row } = await world.open()
  const rpc = createEvmChainRpc(world.config)
  context = () =>
    createRequestContexts({
      pool: world.pool,
      config: { serviceDomain: 'localhost', tokenKey: Buffer.alloc(32, 7) },
      chains: [createEvmChain({ config: world.config, chain: row.chain, rpc })],
    }).mainnet
  indexer = await world.restart()
  await holdBlocks(world)
})
beforeEach(() => {
  sender += 1
})

const statusOf = (tx: Hex): Promise<TxStatus> => evmTxStatus(context(), tx)

/** A registration that waits in the mempool, with its status polled there. */
async function waiting(name: string): Promise<SignedTx> {
  const nonce = await chain.nextNonce(sender)
  const fields = { sender, nonce, names: [name], isPoor: false, gasPriceWei: BASE_GAS_PRICE_WEI }
  const tx = await chain.sign(fields)
  await chain.send(tx)
  expect(await statusOf(tx.hash)).toEqual({ status: 'pending', network: '1' })
  return tx
}

async function replaceWith(old: SignedTx, names: readonly string[] | null): Promise<SignedTx> {
  const tx = await chain.sign({ ...old, names, gasPriceWei: old.gasPriceWei * 2n })
  await chain.send(tx)
  return tx
}

async function confirm(blocks = 3): Promise<void> {
  await chain.mine(1)
  await world.test.mine({ blocks: blocks - 1 })
  while ((await indexer.step()).kind !== 'idle');
}

describe('the status of a replaced transaction', () => {
  it.each([
    ['the same registration at a higher price', (name: string) => [name]],
    ['another registration', (name: string) => [`${name}-other`]],
  ])('is that of %s', async (_, namesOf) => {
    const first = await waiting(`sped-${sender}`)
    const second = await replaceWith(first, namesOf(`sped-${sender}`))
    expect((await statusOf(first.hash)).status).toBe('pending')
    await confirm()
    const replaced = { reason: 'replaced', replacedBy: second.hash, hubTx: second.hash }
    const names = second.names!.map((name) => ({ name, outcome: 'won' }))
    expect(await statusOf(first.hash)).toMatchObject({ status: 'finalized', names, ...replaced })
    expect(await statusOf(second.hash)).toMatchObject({ status: 'finalized', names })
  })

  it('is lost_bid where the replacement came too late', async () => {
    const first = await waiting('contested')
    const rival = await chain.sign({ ...first, sender: 0, nonce: await chain.nextNonce(0) })
    await chain.send(rival)
    await chain.drop(first)
    await chain.mine(1)
    const second = await replaceWith(first, ['contested'])
    await confirm()
    expect(await statusOf(first.hash)).toMatchObject({
      status: 'lost_bid',
      replacedBy: second.hash,
    })
  })

  it('is invalid after a cancel, and after a replacement that reverts, for good', async () => {
    for (const isPoor of [false, true]) {
      const first = await waiting(`cancelled-${isPoor}`)
      const second = await chain.sign({
        ...first,
        names: isPoor ? first.names : null,
        isPoor,
        gasPriceWei: first.gasPriceWei * 2n,
      })
      await chain.send(second)
      await confirm()
      for (let i = 0; i < 2; i++)
        expect(await statusOf(first.hash)).toMatchObject({
          status: 'invalid',
          reason: 'replaced',
          replacedBy: second.hash,
        })
      // the verdict stays, even if the chain forgets the transaction
      const { rows } = await world.pool.query('SELECT verdict FROM tracked_txs WHERE hash = $1', [
        fromHex(first.hash),
      ])
      expect(rows).toEqual([{ verdict: 'replaced' }])
    }
  })

  it('is pending while the replacement is unconfirmed, and a reorg undoes it', async () => {
    const first = await waiting(`shaken-${sender}`)
    const second = await replaceWith(first, null)
    await chain.mine(1)
    // up to the last block that is not confirmed
    while ((await indexer.step()).kind !== 'idle');
    expect((await statusOf(first.hash)).status).toBe('pending')
    expect(await statusOf(first.hash)).not.toHaveProperty('replacedBy')
    await chain.reorg(1)
    await chain.drop(second)
    await chain.send(first)
    await confirm()
    expect(await statusOf(first.hash)).toMatchObject({ status: 'finalized', hubTx: first.hash })
    expect((await statusOf(second.hash)).status).toBe('not_found')
  })

  it('is unconfirmed where a reorg moves it between the call for the receipt and the next one', async () => {
    const rpc = createEvmChainRpc(world.config)
    const heads = createEvmChain({ config: world.config, chain: 0, rpc }).heads
    const first = await waiting(`moved-${sender}`)
    const cancel = await replaceWith(first, null)
    await chain.mine(1)
    const { confirmed } = await heads()
    let moved = () => {}
    const hasMoved = new Promise<void>((resolve) => {
      moved = resolve
    })
    let isMoved = false
    const seen = await rpc.onOneNode((call) => {
      const moving: RpcCall = async <T>(method: string, params: readonly unknown[]) => {
        const answer = await call<T>(method, params)
        if (method === 'eth_getTransactionReceipt' && !isMoved) {
          isMoved = true
          await chain.reorg(1)
          await chain.mine(3)
          moved()
        }
        return answer
      }
      const head = async () => {
        await hasMoved
        const now = await heads()
        return { latest: now.latest.number, confirmed: now.confirmed }
      }
      return readTransaction(moving, { hash: cancel.hash, confirmed, ours: world.config, head })
    })
    expect(isMoved).toBe(true)
    expect(seen).toMatchObject({ state: 'mined', isRegistration: false, isConfirmed: false })
    await confirm()
  })

  it('is found many blocks earlier', async () => {
    const first = await waiting(`deep-${sender}`)
    const second = await replaceWith(first, [`deep-${sender}`])
    await confirm(400)
    expect(await statusOf(first.hash)).toMatchObject({
      status: 'finalized',
      replacedBy: second.hash,
    })
  })

  it('is found by the sender’s count though later transactions of the sender followed', async () => {
    const first = await waiting(`busy-${sender}`)
    const second = await replaceWith(first, null)
    for (let i = 1; i <= 5; i++) {
      await chain.send(await chain.sign({ ...second, nonce: first.nonce + i }))
      await chain.mine(20)
    }
    await confirm()
    expect(await statusOf(first.hash)).toMatchObject({ status: 'invalid', replacedBy: second.hash })
  })

  it('is pending where no node holds the state, and not_found after half an hour', async () => {
    const first = await waiting(`pruned-${sender}`)
    await replaceWith(first, null)
    await confirm(BEYOND_STATE_BLOCKS)
    const old = (await chain.head()) - BEYOND_STATE_BLOCKS
    await expect(
      world.public.getTransactionCount({
        address: world.wallet(sender).address,
        blockNumber: BigInt(old),
      }),
    ).rejects.toThrow(/OutOfRange/)
    expect((await statusOf(first.hash)).status).toBe('pending')
    await world.pool.query('UPDATE tracked_txs SET last_seen_ms = $2 WHERE hash = $1', [
      fromHex(first.hash),
      Date.now() - HALF_AN_HOUR_MS - 1_000,
    ])
    expect((await statusOf(first.hash)).status).toBe('not_found')
  })
})
