import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { createEvmChain, createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { parseChainsFile } from '../../src/config/index.js'
import { useWorld } from '../support/useWorld.js'
import { startApi } from './support.js'

/** Chains that a sign-in names, without any node: no node is asked. */

const HUB = 31_337
const SPOKE = 31_338
const TESTNET = 11_155_111
const CLOSED = 'http://127.0.0.1:9'

const world = useWorld(() => {
  const contract = `0x${'11'.repeat(20)}`
  const ofSpoke = { network: 'mainnet', label: '8453', role: 'spoke', contract, rpcUrls: [CLOSED] }
  const chains = [
    { ...ofSpoke, label: '1', role: 'hub', chainId: HUB },
    { ...ofSpoke, chainId: SPOKE },
  ]
  const config = parseChainsFile({ chains }, 'test').chains[1]!
  return startApi({
    otherChains: [createEvmChain({ config, chain: 9, rpc: createEvmChainRpc(config) })],
    configs: (configs) =>
      configs.map((one) => ({ ...one, chainId: one.network === 'testnet' ? TESTNET : HUB })),
  })
})
const newAccount = () => privateKeyToAccount(generatePrivateKey())

describe('a chainId of a sign-in', () => {
  const wallet = newAccount().address
  const messageFor = async (signer: string, named = '') =>
    (await world.get(`/v1/auth/message?type=evm&wallet=${signer}${named}`)).body
  it.each([
    ['of a testnet', TESTNET],
    ['of an unknown chain', 5],
    ['that is 0', 0],
    ['that is huge', Number.MAX_SAFE_INTEGER],
  ])('%s is refused by a sentence', async (_, chainId) => {
    const asked = await world.get(`/v1/auth/message?type=evm&wallet=${wallet}&chainId=${chainId}`)
    const { signingDate } = await messageFor(wallet)
    const proof = { type: 'evm', wallet, signature: `0x${'ab'.repeat(65)}`, signingDate, chainId }
    const sent = await world.post('/v1/auth/token', proof)
    for (const { status, body } of chainId === 0 ? [asked] : [asked, sent]) {
      expect([status, body.error]).toEqual([400, 'unsupported_network'])
      expect(body.message).toBe(
        `The chainId ${chainId} is not a mainnet chain of this service. Smart wallets sign in on: ${HUB}, ${SPOKE}.`,
      )
    }
    expect(sent.status).toBe(400)
  })

  it.each([
    ['without a wallet', `chainId=${SPOKE}`],
    ['of a Solana wallet', `type=solana&wallet=${'1'.repeat(32)}&chainId=${SPOKE}`],
    ['in words', `type=evm&wallet=${wallet}&chainId=base`],
    ['in hex', `type=evm&wallet=${wallet}&chainId=0x2105`],
    ['given twice', `type=evm&wallet=${wallet}&chainId=1&chainId=2`],
  ])('%s is malformed', async (_, query) => {
    const { status, body } = await world.get(`/v1/auth/message?${query}`)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  it('is no matter for an account with a key, which signs any of the messages', async () => {
    const account = newAccount()
    for (const chainId of [undefined, SPOKE]) {
      const { message, signingDate } = await messageFor(
        account.address,
        chainId === undefined ? '' : `&chainId=${chainId}`,
      )
      const signature = await account.signMessage({ message })
      const proof = { type: 'evm', wallet: account.address, signature, signingDate, chainId }
      expect((await world.post('/v1/auth/token', proof)).status).toBe(200)
    }
  })
})
