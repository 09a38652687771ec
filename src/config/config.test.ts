import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../test/support/folder.js'
import { PUBLIC_WALLET_FACTORIES } from '../registry/auth/walletFactories.js'
import { sha256InOneCall } from '../registry/transparencyLog/hash.js'
import { COSIGNER_KEY_TYPE, verifierKey } from '../registry/transparencyLog/note.js'
import { parseChainsFile, readConfig, readEnvironment, readMirrorConfig } from './index.js'

const example = (): { chains: Record<string, unknown>[] } =>
  JSON.parse(readFileSync('examples/chains.json', 'utf8'))
const withChain = (changes: Record<string, unknown>) => {
  const file = example()
  file.chains[0] = { ...file.chains[0], ...changes }
  return () => parseChainsFile(file, 'chains.json').chains
}

const FEED = `0x${'22'.repeat(20)}`
const folder = useFolder()

describe('the chains file', () => {
  it('of the examples is valid, with the expected defaults', () => {
    const [hub, spoke] = parseChainsFile(example(), 'examples/chains.json').chains
    expect(hub).toMatchObject({ confirmation: { kind: 'tag', tag: 'finalized' }, pollMs: 2_000 })
    expect(spoke).toMatchObject({
      confirmation: { kind: 'tag', tag: 'safe' },
      gasToken: { symbol: 'ETH', decimals: 18 },
    })
  })

  it.each([
    [{ label: '5' }, /chains\[0\]\.label: is not a network label/],
    [{ label: 'solana' }, /chains\[0\]\.label: is not a network label/],
    [{ label: 'constructor' }, /chains\[0\]\.label: is not a network label/],
    [{ explorer: 'etherscan.io' }, /chains\[0\]\.explorer: must be an http\(s\) URL/],
    [{ confirmation: 'latest' }, /chains\[0\]\.confirmation/],
    [
      { label: '11155111', network: 'mainnet' },
      /chains\[0\]\.network: label "11155111" belongs to the other network/,
    ],
    [{ label: '8453' }, /label: "8453" is listed twice/],
    [{ role: 'spoke' }, /mainnet needs exactly one hub, has 0/],
    [{ rpcUrls: [] }, /chains\[0\]\.rpcUrls/],
    [{ rpcUrls: ['ftp://x'] }, /chains\[0\]\.rpcUrls\[0\]: must be an http\(s\) URL/],
    [{ contract: '0x12' }, /chains\[0\]\.contract: must be 0x and 40 hex digits/],
    [{ confirmation: { blocks: -1 } }, /chains\[0\]\.confirmation/],
    [{ communityPayments: '0x12' }, /chains\[0\]\.communityPayments: must be 0x and 40 hex digits/],
    [
      { communityPayments: `0x${'cd'.repeat(20)}`, watchOnly: {} },
      /chains\[0\]\.communityPayments: does not go with watchOnly/,
    ],
    [{ unknownField: 1 }, /chains\[0\]/],
    [
      { singleNodeAfter: '30m' },
      /^In the chains file \S+, chains\[0\]: has "singleNodeAfter".*remove the field.*remove its URL/,
    ],
  ])('with %o stops with one sentence that names the field', (changes, sentence) => {
    expect(withChain(changes)).toThrow(sentence)
  })

  it('with several faults stops with one line for each', () => {
    expect(withChain({ contract: '0x12', rpcUrls: [], pollMs: 0 })).toThrow(
      /^In the chains file chains\.json:\n {2}chains\[0\]\.rpcUrls: .+\n {2}chains\[0\]\.contract: .+\n {2}chains\[0\]\.pollMs: .+$/,
    )
  })
})

const PAYMENTS = { releaseAfterMs: 432_000_000, refusalWorth: 1 }

describe('deliveries', () => {
  it('are off for stuck packets, and capped at 1 ETH', () => {
    const settings = {
      executeStranded: false,
      strandedAfterMs: 1_800_000,
      spendCapWei: 10n ** 18n,
      dailyCapWei: 5n * 10n ** 18n,
      ...PAYMENTS,
    }
    expect(parseChainsFile(example(), 'f').deliveries).toEqual({
      mainnet: settings,
      testnet: settings,
    })
  })

  it('are set per network', () => {
    const deliveries = { mainnet: { executeStranded: true, spendCapWei: '5' } }
    expect(parseChainsFile({ ...example(), deliveries }, 'f').deliveries.mainnet).toEqual({
      executeStranded: true,
      strandedAfterMs: 1_800_000,
      spendCapWei: 5n,
      dailyCapWei: 25n,
      ...PAYMENTS,
    })
  })

  it('have settings for payments for community names too', () => {
    const { mainnet } = parseChainsFile(
      { ...example(), payments: { releaseAfterMs: 7, refusalWorth: 2.5 } },
      'f',
    ).deliveries
    expect(mainnet).toMatchObject({ releaseAfterMs: 7, refusalWorth: 2.5 })
    expect(() => parseChainsFile({ ...example(), payments: { refusalWorth: -1 } }, 'f')).toThrow(
      /payments\.refusalWorth/,
    )
  })

  it.each([
    [{ mainnet: { spendCapWei: 5 } }, /deliveries\.mainnet\.spendCapWei/],
    [
      { mainnet: { spendCapWei: '1e18' } },
      /deliveries\.mainnet\.spendCapWei: must be a decimal amount of wei/,
    ],
    [{ mainnet: { strandedAfterMs: 0 } }, /deliveries\.mainnet\.strandedAfterMs/],
    [{ holesky: {} }, /deliveries/],
  ])('with %o stop with one sentence', (deliveries, sentence) => {
    expect(() => parseChainsFile({ ...example(), deliveries }, 'f')).toThrow(sentence)
  })
})

describe('solana', () => {
  const HUB_FEED = `0x${'ab'.repeat(20)}`
  const section = {
    rpcUrls: ['http://127.0.0.1:8899'],
    programId: 'Stake11111111111111111111111111111111111111',
    feeds: { solUsd: HUB_FEED, ethUsd: HUB_FEED },
  }
  const parsed = (changes: object) =>
    parseChainsFile({ ...example(), solana: { mainnet: { ...section, ...changes } } }, 'f')

  it('is off by default, with the commitment finalized', () => {
    expect(parseChainsFile(example(), 'f').solana).toEqual({})
    expect(parsed({}).solana.mainnet).toMatchObject({
      commitment: 'finalized',
      startSlot: 0,
      wsUrls: [],
      feeds: { maxAgeSeconds: { solUsd: 90_000, ethUsd: 90_000 }, maxMovePercent: 10 },
    })
  })

  it.each([
    [{ programId: 'x' }, /solana\.mainnet\.programId: must be 32 bytes in base58/],
    [{ genesisHash: HUB_FEED }, /solana\.mainnet\.genesisHash/],
    [{ wsUrls: ['http://x'] }, /solana\.mainnet\.wsUrls\[0\]: must be a ws\(s\) URL/],
    [{ commitment: 'processed' }, /solana\.mainnet\.commitment/],
    [
      { commitment: 'confirmed' },
      /solana\.mainnet\.commitment: is "finalized" outside local worlds/,
    ],
    [{ feeds: { solUsd: HUB_FEED } }, /solana\.mainnet\.feeds\.ethUsd/],
  ])('with %o stops with one sentence', (changes, sentence) => {
    expect(() => parsed(changes)).toThrow(sentence)
  })

  it('needs the hub of its network', () => {
    const file = { ...example(), solana: { testnet: section } }
    expect(() => parseChainsFile(file, 'f')).toThrow(/testnet needs exactly one hub, has 0/)
    const { chains } = example()
    chains[0] = { ...chains[0], watchOnly: {} }
    const watched = { chains, solana: { mainnet: section } }
    expect(() => parseChainsFile(watched, 'f')).toThrow(
      /solana\.mainnet: can pay for nothing: the hub is watch-only/,
    )
  })
})

describe('the environment', () => {
  it('has defaults, and an empty variable counts as unset', () => {
    expect(readEnvironment({ PORT: '' })).toMatchObject({
      port: undefined,
      host: '127.0.0.1',
      logLevel: 'info',
    })
  })

  it.each([
    [{ PORT: 'x' }, /PORT/],
    [{ PORT: '65536' }, /PORT/],
    [{ DATABASE_URL: 'mysql://x' }, /DATABASE_URL: must be a postgresql:\/\/ URL/],
    [{ DATABASE_DIRECT_URL: 'mysql://x' }, /DATABASE_DIRECT_URL: must be a postgresql:\/\/ URL/],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL/],
    [{ OPS_TOKEN: 'short' }, /OPS_TOKEN: must have at least 16 characters/],
    [{ SERVICE_DOMAIN: 'd'.repeat(61) }, /SERVICE_DOMAIN: must have at most 60 characters/],
    [{ CLUSTERD_FAILPOINT: 'A B' }, /CLUSTERD_FAILPOINT/],
  ])('with %o stops with one sentence', (env, sentence) => {
    expect(() => readEnvironment(env)).toThrow(sentence)
  })

  it.each(['ab'.repeat(32), `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`, '0xsecret'])(
    'refuses an invalid relayer key, and does not repeat it',
    (key) => {
      const read = () => readEnvironment({ RELAYER_PRIVATE_KEY: key })
      expect(read).toThrow(/RELAYER_PRIVATE_KEY/)
      expect(read).not.toThrow(key)
    },
  )

  it.each([
    [
      { RELAYER_ADDRESS: `0x${'ab'.repeat(20)}` },
      /RELAYER_ADDRESS is set, and RELAYER_SIGNER_URL is not/,
    ],
    [{ RELAYER_PASSWORD_FILE: '/x' }, /RELAYER_PASSWORD_FILE is set, and RELAYER_KEYSTORE is not/],
    [
      { RELAYER_PRIVATE_KEY: `0x${'01'.repeat(32)}`, RELAYER_PASSWORD_FILE: '/x' },
      /RELAYER_KEYSTORE is not/,
    ],
    [{ RELAYER_PASSWORD_FILE: '', RELAYER_ADDRESS: '' }, null],
  ])('refuses an incomplete source of the relayer’s key: %o', (env, sentence) => {
    const set = {
      ...env,
      ROLES: 'index',
      DATABASE_URL: 'postgresql://x',
      CLUSTERD_CHAINS: 'examples/chains.json',
    }
    if (sentence) expect(() => readConfig(set)).toThrow(sentence)
    else expect(() => readConfig(set)).not.toThrow()
  })

  it.each(['[1,2]', '1'.repeat(64), '0xsecret'])(
    'refuses an invalid Solana key, and does not repeat it',
    (key) => {
      const read = () => readEnvironment({ SOLANA_RELAYER_PRIVATE_KEY: key })
      expect(read).toThrow(/SOLANA_RELAYER_PRIVATE_KEY: is no secret key/)
      expect(read).not.toThrow(key)
    },
  )

  it('reports variables that `clusterd start` needs', () => {
    expect(() => readConfig({})).toThrow(/DATABASE_URL is not set/)
    expect(() =>
      readConfig({ DATABASE_URL: 'postgresql://x', CLUSTERD_CHAINS: '/nowhere.json' }),
    ).toThrow(/chains file .* does not exist/)
  })

  it.each([
    [{}, /TOKEN_KEY is not set: the API needs .*openssl rand/],
    [
      { ROLES: 'index', CLUSTERD_CHAINS: 'solana' },
      /QUOTE_KEY is not set: a chains file with Solana/,
    ],
    [{ ROLES: 'index' }, null],
    [{ TOKEN_KEY: `0x${'01'.repeat(32)}` }, null],
  ])('requires the secret keys that its roles use: %o', (env, sentence) => {
    const solana = {
      mainnet: {
        rpcUrls: ['http://x'],
        programId: '1'.repeat(32),
        feeds: { solUsd: FEED, ethUsd: FEED },
      },
    }
    writeFileSync(join(folder, 'solana'), JSON.stringify({ ...example(), solana }))
    const chains = 'CLUSTERD_CHAINS' in env ? join(folder, 'solana') : 'examples/chains.json'
    const read = () =>
      readConfig({ ...env, DATABASE_URL: 'postgresql://x', CLUSTERD_CHAINS: chains })
    if (sentence) expect(read).toThrow(sentence)
    else expect(read).not.toThrow()
  })
})

describe('witnesses', () => {
  const key = Buffer.alloc(32, 1)
  const witness = verifierKey(sha256InOneCall, 'w.example', key, COSIGNER_KEY_TYPE)
  const read = (LOG_WITNESSES: string) => readEnvironment({ LOG_WITNESSES }).logWitnesses

  it('of a log are keys and URLs', () => {
    expect(readEnvironment({}).logWitnesses).toEqual([])
    const two = read(`${witness} https://w.example/v1/witness/, ${witness} http://10.0.0.1`)
    expect(two.map(({ name, url }) => `${name} ${url}`)).toEqual([
      'w.example https://w.example/v1/witness',
      'w.example http://10.0.0.1',
    ])
  })

  it.each([
    ['no URL', witness],
    ['another scheme', `${witness} ftp://w.example`],
    ['more than a URL', `${witness} https://w.example more`],
    ['the key of a log', `${verifierKey(sha256InOneCall, 'w', key)} https://w.example`],
    ['no key', 'https://w.example'],
    ['nine', Array(9).fill(`${witness} https://w.example`).join(',')],
  ])('are not %s', (_what, text) => {
    expect(() => read(text)).toThrow('LOG_WITNESSES')
  })

  it('that are mirrors need a key', () => {
    const set = {
      DATABASE_URL: 'postgresql://127.0.0.1/x',
      MIRROR_URL: 'https://names.example',
      MIRROR_KEY: key.toString('base64'),
      MIRROR_WITNESS: 'w.example',
    }
    const mirror = (more: object) => readMirrorConfig(['mainnet'], { ...set, ...more }).mirror
    expect(() => mirror({})).toThrow('LOG_KEY is not set')
    const LOG_KEY = `0x${'11'.repeat(32)}`
    expect(mirror({ LOG_KEY }).cosigner).toMatchObject({ name: 'w.example' })
    expect(mirror({ LOG_KEY, MIRROR_WITNESS: '' }).cosigner).toBe(undefined)
    expect(() => mirror({ LOG_KEY, MIRROR_WITNESS: 'a+b' })).toThrow('MIRROR_WITNESS')
  })
})

describe('limits', () => {
  it('are on by default, and trust no proxy', () => {
    const { limits, trustProxy } = readEnvironment({})
    expect(limits).toMatchObject({
      address: { perSecond: 50, burst: 300 },
      key: { perSecond: 500, burst: 3_000 },
    })
    expect(trustProxy).toBe(0)
    expect(readEnvironment({ LIMITS: 'off' }).limits).toBeNull()
    expect(readEnvironment({ LIMIT_ADDRESS: '5/7' }).limits?.address).toEqual({
      perSecond: 5,
      burst: 7,
    })
    expect(readEnvironment({ TRUST_PROXY: '2' }).trustProxy).toBe(2)
    const proxies = readEnvironment({
      TRUST_PROXY: 'loopback, 10.0.0.0/8,2001:db8::/32',
    }).trustProxy
    expect(proxies).toEqual(['loopback', '10.0.0.0/8', '2001:db8::/32'])
  })

  it.each([
    [{ LIMITS: 'no' }, /LIMITS/],
    [{ LIMIT_ADDRESS: '0/5' }, /LIMIT_ADDRESS: must be <per second>\/<burst>/],
    [{ LIMIT_KEY: '500' }, /LIMIT_KEY/],
    [
      { TRUST_PROXY: '10.0.0.0/33' },
      /TRUST_PROXY: must be a number of proxies, or their addresses/,
    ],
    [{ TRUST_PROXY: 'true' }, /TRUST_PROXY/],
    [{ TRUST_PROXY: '-1' }, /TRUST_PROXY/],
  ])('with %o stop with one sentence', (env, sentence) => {
    expect(() => readEnvironment(env)).toThrow(sentence)
  })
})

describe('sessions', () => {
  it('last 14 days, have no default key, and accept undeployed smart wallets of public factories', () => {
    expect(readEnvironment({})).toMatchObject({
      tokenKey: undefined,
      quoteKeys: [],
      sessionLifetimeMs: 14 * 24 * 3_600_000,
      walletFactories: PUBLIC_WALLET_FACTORIES,
    })
    const set = readEnvironment({
      TOKEN_KEY: `0x${'0a'.repeat(32)}`,
      SESSION_DAYS: '1',
      WALLET_FACTORIES: `0x${'0A'.repeat(20)}, 0x${'0b'.repeat(20)}`,
    })
    const walletFactories = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`]
    expect(set).toMatchObject({ sessionLifetimeMs: 24 * 3_600_000, walletFactories })
    expect(Buffer.from(set.tokenKey!)).toEqual(Buffer.alloc(32, 10))
    const { quoteKeys } = readEnvironment({
      QUOTE_KEY: `0x${'0b'.repeat(32)}, 0x${'0c'.repeat(32)}`,
    })
    expect(quoteKeys.map((key) => key[0])).toEqual([11, 12])
  })

  it.each([
    [{ TOKEN_KEY: 'secret' }, /TOKEN_KEY: must be 0x and 64 hex digits/],
    [{ SESSION_DAYS: '0' }, /SESSION_DAYS/],
    [{ WALLET_FACTORIES: '0x0a' }, /WALLET_FACTORIES/],
  ])('with %o stop with one sentence', (env, sentence) => {
    expect(() => readEnvironment(env)).toThrow(sentence)
  })
})
