import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  hashMessage,
  serializeErc6492Signature,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  testSmartWalletAbi,
  testSmartWalletBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestSmartWallet.js'
import {
  testSmartWalletFactoryAbi,
  testSmartWalletFactoryBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestSmartWalletFactory.js'
import { ChainUnavailableError, type EvmChainPort } from '../../src/chains/chain.js'
import { createSmartWalletSignatureCheck } from '../../src/chains/evm/smartWallet.js'
import type { RpcError } from '../../src/chains/rpc/errors.js'
import { createEvmRpc } from '../../src/chains/rpc/evm.js'
import { parseContractSignature } from '../../src/registry/auth/evm.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { useWorld } from '../support/useWorld.js'
import { startChain } from './support/chain.js'

const owner = privateKeyToAccount(generatePrivateKey())
const stranger = privateKeyToAccount(generatePrivateKey())
const message = 'a message'
const hash = hashMessage(message)
const MODES = {
  sign: 0,
  revert: 1,
  burnGas: 2,
  returnBomb: 3,
  returnShort: 4,
  returnOther: 5,
  invalidOpcode: 6,
} as const

const chain = useWorld(() => startChain())
let from: Hex
let isValidSignature: EvmChainPort['isValidSignature']
let wallet: Hex
let factory: Hex
const faults: RpcError[] = []

const deploy = async (data: Hex): Promise<Hex> =>
  (await chain.succeed({ from, data })).contractAddress!

const setMode = (mode: number) => {
  const data = encodeFunctionData({
    abi: testSmartWalletAbi,
    functionName: 'setMode',
    args: [mode],
  })
  return chain.succeed({ from, to: wallet, data })
}
const asking = async (of: Hex, by: typeof owner) => ({
  wallet: of,
  hash,
  ...signed(await by.signMessage({ message })),
})

beforeAll(async () => {
  from = chain.accounts[0]!
  const rpc = createEvmRpc({
    label: 'test',
    urls: [chain.chain.rpcUrls.default.http[0]!],
    chainId: 31_337,
    onFault: (_url, error) => faults.push(error),
  })
  isValidSignature = createSmartWalletSignatureCheck(rpc)
  const args = [owner.address] as const
  wallet = await deploy(
    encodeDeployData({ abi: testSmartWalletAbi, bytecode: testSmartWalletBytecode, args }),
  )
  factory = await deploy(testSmartWalletFactoryBytecode)
})

const signed = (signature: string) => {
  const parsed = parseContractSignature(signature)
  if (!parsed) throw new Error(`${signature} is no signature`)
  return { ...parsed, onCall() {} }
}
const ask = (signature: Hex, options: { of?: Hex; hash?: Hex } = {}) =>
  isValidSignature({
    ...signed(signature),
    wallet: options.of ?? wallet,
    hash: options.hash ?? hash,
  })

describe('a smart wallet (ERC-1271)', () => {
  it('has the signatures that its contract accepts', async () => {
    expect(await ask(await owner.signMessage({ message }))).toBe(true)
    expect(await ask(await stranger.signMessage({ message }))).toBe(false)
    expect(await ask(await owner.signMessage({ message: 'another' }))).toBe(false)
    expect(await ask('0x00')).toBe(false)
    expect(await ask(`0x${'ab'.repeat(8_192)}`)).toBe(false)
  })

  it('is not an account without code, a precompile or another contract', async () => {
    const signature = await owner.signMessage({ message })
    expect(await ask(signature, { of: factory })).toBe(false)
    for (const of of [owner.address, `0x${'00'.repeat(19)}04`] as const)
      expect(await ask(signature, { of }), of).toBe(null)
  })

  it('that misbehaves has no valid signature, costs little, and does not count as a fault of the node', async () => {
    const signature = await owner.signMessage({ message })
    for (const [name, mode] of Object.entries(MODES)) {
      await setMode(mode)
      const startedMs = performance.now()
      expect(await ask(signature), name).toBe(mode === MODES.sign)
      expect(performance.now() - startedMs).toBeLessThan(10_000)
    }
    await setMode(MODES.sign)
    expect(faults).toEqual([])
  })
})

describe('a smart wallet that is not deployed yet (ERC-6492)', () => {
  const wrapped = async (of: typeof owner) =>
    serializeErc6492Signature({
      address: factory,
      data: encodeFunctionData({
        abi: testSmartWalletFactoryAbi,
        functionName: 'deploy',
        args: [owner.address],
      }),
      signature: await of.signMessage({ message }),
    })
  const future = () =>
    chain.publicClient.readContract({
      address: factory,
      abi: testSmartWalletFactoryAbi,
      functionName: 'addressOf',
      args: [owner.address],
    })

  it('is checked as if it were deployed', async () => {
    const of = await future()
    expect(await ask(await wrapped(owner), { of })).toBe(true)
    expect(await ask(await wrapped(stranger), { of })).toBe(false)
    expect(await ask(await wrapped(owner), { of: stranger.address })).toBe(null)
    expect(await ask(await owner.signMessage({ message }), { of })).toBe(null)
    expect(await chain.publicClient.getCode({ address: of })).toBeUndefined()
  })

  it('may be deployed already', async () => {
    expect(await ask(await wrapped(owner))).toBe(true)
  })
})

describe('a node that accepts every signature', () => {
  type Odd = { result: Hex } | { error: object } | 'hangs'
  const YES = {
    eth_call: { result: `0x${'1'.padStart(64, '0')}` },
  } as const
  let odd: Readonly<Record<string, Odd>> = YES
  /** only the honest node identifies the chain */
  const liar = createServer(async (req, res) => {
    const text = Buffer.concat(await req.toArray()).toString()
    const { id, method } = JSON.parse(text)
    const init = { method: 'POST', body: text, headers: { 'content-type': 'application/json' } }
    const said = odd[method]
    if (said === 'hangs') return
    const answer = said
      ? JSON.stringify({ jsonrpc: '2.0', id, ...said })
      : await (await fetch(chain.chain.rpcUrls.default.http[0]!, init)).text()
    res.setHeader('content-type', 'application/json').end(answer)
  })
  let urls: [string, string]
  beforeAll(async () => {
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve))
    urls = [
      `http://127.0.0.1:${(liar.address() as AddressInfo).port}`,
      chain.chain.rpcUrls.default.http[0]!,
    ]
  })
  afterAll(() => {
    liar.close()
    liar.closeAllConnections()
  })
  const over = (rpcUrls: readonly string[]) =>
    createSmartWalletSignatureCheck(
      createEvmRpc({ label: 'test', urls: rpcUrls, chainId: 31_337 }).forUse('wallets'),
    )

  it.each(['first', 'second'])('can’t forge a signature as the %s of two', async (place) => {
    const asked = over(place === 'first' ? urls : urls.toReversed())
    for (const lie of [await asking(stranger.address, owner), await asking(wallet, stranger)])
      expect(await asked(lie)).toBe(false)
    expect(await asked(await asking(wallet, owner))).toBe(true)
  })

  it('is not enough beside an unavailable node: the check waits for two answers', async () => {
    const away = `http://127.0.0.1:${await chooseFreePort()}`
    const honest = urls[1]!
    for (const rpcUrls of [
      [away, honest],
      [honest, away],
      [urls[0]!, away],
    ])
      await expect(over(rpcUrls)(await asking(wallet, owner))).rejects.toThrow(
        ChainUnavailableError,
      )
  })

  it.each<[string, Odd]>([
    ['hangs', 'hangs'],
    [
      'refuses the question',
      { error: { code: -32_000, message: 'out of gas: gas required exceeds 500000' } },
    ],
  ])(
    'and one of three that %s delays nothing',
    async (_, said) => {
      odd = { eth_call: said }
      const honest = urls[1]!
      // the same chain under a second host name counts as a second node
      const other = honest.replace('127.0.0.1', 'localhost')
      try {
        const asked = over([urls[0]!, honest, other])
        expect(await asked(await asking(wallet, owner))).toBe(true)
        expect(await asked(await asking(wallet, stranger))).toBe(false)
      } finally {
        odd = YES
      }
    },
    20_000,
  )
})

describe('an unavailable or wrong chain', () => {
  it('gives no answer', async () => {
    const other = createEvmRpc({
      label: 'test',
      urls: [chain.chain.rpcUrls.default.http[0]!],
      chainId: 1,
    })
    const rpc = createEvmRpc({
      label: 'test',
      urls: [`http://127.0.0.1:${await chooseFreePort()}`],
      chainId: 31_337,
    })
    for (const one of [other, rpc])
      await expect(
        createSmartWalletSignatureCheck(one)(await asking(wallet, owner)),
      ).rejects.toThrow(ChainUnavailableError)
  })
})
