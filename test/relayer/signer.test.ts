import { join } from 'node:path'
import type { TransactionSerializableEIP1559 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createSigningAccount,
  SignerUnavailableError,
} from '../../src/chains/evm/relayerAccount.js'
import { ensAnswerTypedData } from '../../src/ens/answer.js'
import { paymentReleaseTypedData } from '../../src/registry/community/release.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import {
  spawnChild,
  type WatchedChild,
  waitForCondition,
} from '../../src/testing/processes/processes.js'
import { testProgram } from '../setup/built.js'
import { HUB_CHAIN_ID } from '../support/bridgeContracts.js'
import { type BridgeWorld, RELAYER_KEY, startBridgeWorld } from '../support/bridgeWorld.js'
import { parentsWith } from '../support/ens.js'

const DEADLINE_MS = 30_000
/** Beyond every pause after a failure. */
const DAY_MS = 86_400_000
const { address } = privateKeyToAccount(RELAYER_KEY)

let world: BridgeWorld
let port: number
let signer: WatchedChild
beforeAll(async () => {
  port = await chooseFreePort()
  ;[world, signer] = await Promise.all([startBridgeWorld(), startSigner()])
}, 60_000)
afterAll(async () => {
  await signer?.end('SIGKILL', 1_000)
  await world?.stop()
})

/** Starts a process that holds the relayer's key. */
async function startSigner(): Promise<WatchedChild> {
  const child = await spawnChild({
    command: process.execPath,
    args: [await testProgram('test/support/signerProcess')],
    logFile: join(process.env.TMPDIR!, `signer-${port}-${Date.now()}.log`),
    env: {
      SIGNER_KEY: RELAYER_KEY,
      SIGNER_CHAIN_ID: String(HUB_CHAIN_ID),
      SIGNER_PORT: String(port),
    },
  })
  await waitForCondition(() => child.logTail().includes('signer on'), DEADLINE_MS, 50)
  return child
}

const accountAt = (path = '/') =>
  createSigningAccount({ signerUrl: `http://127.0.0.1:${port}${path}`, address })

const TX: TransactionSerializableEIP1559 = {
  type: 'eip1559',
  chainId: HUB_CHAIN_ID,
  nonce: 3,
  gas: 21_000n,
  to: address,
  value: 5n,
  data: '0x12',
  maxFeePerGas: 9n,
  maxPriorityFeePerGas: 1n,
}

describe('a signer elsewhere', () => {
  it('signs what a key here would have signed', async () => {
    const own = privateKeyToAccount(RELAYER_KEY)
    expect(await accountAt().signTransaction(TX)).toBe(await own.signTransaction(TX))
    const word = paymentReleaseTypedData({
      chainId: HUB_CHAIN_ID,
      contract: address,
      paymentIds: [Buffer.alloc(32, 1)],
    })
    expect(await accountAt().signTypedData(word)).toBe(await own.signTypedData(word))
    const parentSettings = parentsWith(address).mainnet
    const request = word.message.paymentIds[0]!
    const answer = ensAnswerTypedData({ parentSettings, request, result: '0x12', expiresS: 1 })
    expect(await accountAt().signTypedData(answer)).toBe(await own.signTypedData(answer))
  })

  it.each([
    ['/changed', 'it signed another transaction: value 6, expected 5'],
    ['/other', `expected ${address}, or signed something else`],
    ['/silent', 'timed out'],
    ['/refused', 'eth_signTransaction'],
  ])('that is %s signs nothing: %s', async (path, words) => {
    const refused = accountAt(path).signTransaction(TX)
    await expect(refused).rejects.toThrow(SignerUnavailableError)
    await expect(refused).rejects.toThrow(words)
  })

  it('carries messages; while it is away none is parked and no nonce given, and they go on when it is back', async () => {
    const relayer = await world.restart({ account: accountAt() })
    const first = await world.send(0, ['signed-elsewhere'])
    await world.finish(relayer)
    expect(await world.executions(first)).toBe(1)

    await signer.end('SIGKILL', 1_000)
    const nonce = await world.nonce()
    const second = await world.send(0, ['signed-later'])
    expect((await world.run(relayer)).join()).toContain('failed')
    const waiting = (await world.jobs()).filter(({ state }) => state !== 'confirmed')
    expect(waiting.map(({ reason }) => reason)).toContain('signer_unreachable')
    for (const job of waiting)
      expect(job, `job ${job.id}`).toMatchObject({ state: 'queued', nonce: null })

    signer = await startSigner()
    world.aheadMs = DAY_MS
    await world.finish(relayer)
    expect(await world.executions(second)).toBe(1)
    expect(await world.nonce()).toBe(nonce + waiting.length)
  })
})
