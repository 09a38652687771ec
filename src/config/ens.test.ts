import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../test/support/folder.js'
import { parseChainsFile, parseDraftChainsFile, readConfig } from './index.js'

const folder = useFolder()

const example = JSON.parse(readFileSync('examples/chains.json', 'utf8')) as object
const of = (parent: string) => ({ parent, resolver: `0x${'E5'.repeat(20)}`, chainId: 1 })
const ENS_PRIVATE_KEY = `0x${'e1'.repeat(32)}` as const
const OTHER = `0x${'e2'.repeat(32)}`
const ENS_ADDRESS = privateKeyToAddress(ENS_PRIVATE_KEY)
const ENS_SIGNER_URL = 'http://signer'

describe('the key of ENS', () => {
  const CLUSTERD_CHAINS = join(folder, 'chains.json')
  writeFileSync(
    CLUSTERD_CHAINS,
    JSON.stringify({ ...example, ens: { mainnet: of('bundles.eth') } }),
  )
  const set = { DATABASE_URL: 'postgresql://x', TOKEN_KEY: OTHER, CLUSTERD_CHAINS }

  it.each([
    [{ ENS_PRIVATE_KEY, RELAYER_PRIVATE_KEY: OTHER }, null],
    [{ ENS_SIGNER_URL, ENS_ADDRESS }, null],
    [{ ROLES: 'index,relay' }, null],
    [{}, /ENS_PRIVATE_KEY, ENS_KEYSTORE and ENS_SIGNER_URL are not set/],
    [{ ENS_SIGNER_URL }, /ENS_ADDRESS is not set/],
    [{ ENS_PASSWORD_FILE: '/x' }, /ENS_PASSWORD_FILE is set, and ENS_KEYSTORE is not/],
    [{ ENS_PRIVATE_KEY, ENS_KEYSTORE: '/x' }, /exclude one another/],
    [{ ENS_PRIVATE_KEY, RELAYER_PRIVATE_KEY: ENS_PRIVATE_KEY }, /The key of ENS is the relayer’s/],
    [
      { ENS_SIGNER_URL, ENS_ADDRESS, RELAYER_PRIVATE_KEY: ENS_PRIVATE_KEY },
      /The key of ENS is the relayer’s/,
    ],
  ])('%o', (env, sentence) => {
    const read = () => readConfig({ ...set, ...env })
    if (sentence) expect(read).toThrow(sentence)
    else
      expect(read().ens.mainnet).toEqual({ ...of('bundles.eth'), resolver: `0x${'e5'.repeat(20)}` })
  })
})

it.each([
  'bundles.eth',
  'test.bundles.eth',
  'eth.eth',
  'Other.eth',
  'eth',
  'a b.eth',
  'testers.eth',
])('testnet’s parent %s beside bundles.eth', (parent) => {
  const read = () =>
    parseChainsFile({ ...example, ens: { mainnet: of('bundles.eth'), testnet: of(parent) } }, 'x')
  if (parent === 'testers.eth' || parent === 'eth.eth') expect(read).not.toThrow()
  else expect(read).toThrow(/ens\.testnet\.parent/)
})

it('a draft may omit the resolver, a start needs it', () => {
  const file = { ...example, ens: { mainnet: { ...of('bundles.eth'), resolver: undefined } } }
  expect(parseDraftChainsFile(file, 'x').ens.mainnet?.parent).toBe('bundles.eth')
  expect(() => parseChainsFile(file, 'x')).toThrow(
    /`clusterd contracts deploy --ens bundles.eth` deploys it/,
  )
})

it.each([
  ['1', true],
  ['999999999', true],
  ['0', false],
  ['1000000000', false],
  ['base', false],
])('a reverse registrar of chain %s is read: %s', (chainId, isRead) => {
  const reverseRegistrars = { [chainId]: `0x${'AB'.repeat(20)}` }
  const ens = { mainnet: { ...of('bundles.eth'), reverseRegistrars } }
  const read = () => parseChainsFile({ ...example, ens }, 'x').ens.mainnet?.reverseRegistrars
  if (isRead) expect(read()).toEqual({ [chainId]: `0x${'ab'.repeat(20)}` })
  else expect(read).toThrow(`ens.mainnet.reverseRegistrars.${chainId}: is not the id of a chain`)
})
