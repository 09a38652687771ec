import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import bs58 from 'bs58'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { ConfigError, parseDraft, sealKeystore } from '../../config/index.js'
import { SOLANA } from '../../registry/families.js'
import { fromHex } from '../../registry/primitives/bytes.js'
import { ed25519PublicKey } from '../../registry/primitives/ed25519.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'

/** Options of `clusterd init`. */
export interface InitOptions {
  hub: string
  spokes?: string
  rpc?: readonly string[]
  solana?: boolean
  database?: string
  compose?: boolean
  out: string
}

const SECRET = 0o600
const PUBLIC = 0o644
const CHAINS = 'chains.json'
const KEYSTORE = 'relayer-keystore.json'
const PASSWORD = 'relayer-password'
const SOLANA_KEY = 'solana-relayer.json'
const PLACEHOLDER = 'postgresql://clusterd:PASSWORD@127.0.0.1:5432/clusterd'

/** `clusterd init`: writes a new deployment's files, with new keys, into a folder that has none of them. */
export async function initDeployment(options: InitOptions): Promise<void> {
  const folder = resolve(options.out)
  const { compose, database } = options
  if (compose && database)
    throw new Error('--compose brings a database of its own: leave --database out.')
  const draft = chainsFileDraft(options)
  const { chains } = parseDraft({ chains: draft.chains }, join(folder, CHAINS))
  const networks = NETWORKS.filter((network) => chains.some((chain) => chain.network === network))
  const solanaOn = options.solana ? networks[0]! : null
  if (solanaOn && networks.length > 1)
    throw new Error(
      `--solana takes one network at a time: add the section of the other to ${CHAINS}.`,
    )
  const content = {
    chains: draft.chains,
    ...(solanaOn && { solana: { [solanaOn]: { rpcUrls: draft.solana } } }),
  }
  parseDraft(content, join(folder, CHAINS))

  const key = generatePrivateKey()
  const relayer = privateKeyToAddress(key)
  const password = randomBytes(32).toString('hex')
  const seed = randomBytes(32)
  const publicKey = ed25519PublicKey(seed)
  const files: [name: string, content: string][] = [
    [CHAINS, `${JSON.stringify(content, null, 2)}\n`],
    ['.env', environmentOf(options)],
    [KEYSTORE, sealKeystore(fromHex(key), password, relayer)],
    [PASSWORD, `${password}\n`],
  ]
  // seed and public key, as solana-keygen writes them
  if (solanaOn) files.push([SOLANA_KEY, `${JSON.stringify([...seed, ...publicKey])}\n`])
  if (compose) files.push(['compose.yaml', readFileSync(COMPOSE_FILE, 'utf8')])
  write(folder, files)

  console.log(`Written to ${folder}: ${files.map(([name]) => name).join(', ')}.\n`)
  console.log(`The relayer is ${relayer}: it pays for deliveries, on the hub first of all.`)
  const relay = solanaOn && bs58.encode(publicKey)
  if (relay) console.log(`The relay authority on Solana is ${relay}.`)
  console.log(`\nNext, in ${folder}, as docs/run/deploying.md goes through it:`)
  for (const line of nextSteps({ networks, relayer, relay, compose })) console.log(`  ${line}`)
}

/** `examples/deploy/compose.yaml` of this package, three levels above `src/cli/init` and `dist/cli/init`. */
const COMPOSE_FILE = new URL('../../../examples/deploy/compose.yaml', import.meta.url)

const listOf = (text = ''): string[] => text.split(/[\s,]+/).filter((part) => part !== '')

/**
 * Draft of a chains file, without values that presets know and without contracts. @throws ConfigError that names the
 * option
 */
export function chainsFileDraft({ hub, spokes, rpc = [], solana }: InitOptions) {
  const urls = new Map<string, string[]>()
  for (const pair of rpc) {
    const [, label, url] = /^(\w+)=(.+)$/.exec(pair) ?? []
    if (!label || !url)
      throw new ConfigError('--rpc is <label>=<url>, such as 8453=https://base.rpc.example.')
    urls.set(label, [...(urls.get(label) ?? []), url])
  }
  const urlsOf = (label: string): string[] => {
    const found = urls.get(label)
    urls.delete(label)
    if (!found) throw new ConfigError(`Chain ${label} needs an RPC URL: --rpc ${label}=<url>.`)
    return found
  }
  const chainsOf = (labels: string[], role: 'hub' | 'spoke') =>
    labels.map((label) => ({ label, role, rpcUrls: urlsOf(label) }))
  const chains = [...chainsOf(listOf(hub), 'hub'), ...chainsOf(listOf(spokes), 'spoke')]
  const ofSolana = solana ? urlsOf(SOLANA.label) : []
  const [stray] = urls.keys()
  if (stray !== undefined)
    throw new ConfigError(`--rpc: "${stray}" is not one of the chosen chains.`)
  return { chains, solana: ofSolana }
}

function environmentOf({ solana, compose, database }: InitOptions): string {
  const password = randomBytes(24).toString('hex')
  const key = () => `0x${randomBytes(32).toString('hex')}`
  const url = compose
    ? `postgresql://clusterd:${password}@postgres:5432/clusterd`
    : (database ?? PLACEHOLDER)
  const owner = `${process.getuid?.() ?? 1000}:${process.getgid?.() ?? 1000}`
  return [
    '# Written by `clusterd init`; docs/run/configuration.md says what each variable means, and names the others.',
    '# The keys are in no database: keep a copy of this file and of the keystore apart from it.',
    `DATABASE_URL=${url}`,
    ...(compose ? [`POSTGRES_PASSWORD=${password}`, `CLUSTERD_USER=${owner}`] : []),
    `CLUSTERD_CHAINS=${CHAINS}`,
    `TOKEN_KEY=${key()}`,
    `SHARE_KEY=${key()}`,
    `QUOTE_KEY=${key()}`,
    `LOG_KEY=${key()}`,
    `RELAYER_KEYSTORE=${KEYSTORE}`,
    `RELAYER_PASSWORD_FILE=${PASSWORD}`,
    ...(solana ? [`SOLANA_RELAYER_KEY_FILE=${SOLANA_KEY}`] : []),
    '# where visitors reach the service, and what it is called in the message that wallets sign',
    '#SITE_URL=https://names.example',
    '#SERVICE_DOMAIN=names.example',
    '',
  ].join('\n')
}

/**
 * Writes files, all or none, if the folder has none of their names. All are secret, because an RPC URL may hold a
 * provider's key.
 */
function write(folder: string, files: readonly [name: string, content: string][]): void {
  const there = files.flatMap(([name]) => (existsSync(join(folder, name)) ? [name] : []))
  if (there.length > 0)
    throw new Error(
      `${folder} already holds ${there.join(', ')}: nothing was written. Name another folder (--out).`,
    )
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [name, content] of files)
    writeFileSync(join(folder, name), content, {
      mode: name === 'compose.yaml' ? PUBLIC : SECRET,
      flag: 'wx',
    })
}

interface Made {
  networks: readonly Network[]
  relayer: string
  relay: string | null
  compose: boolean | undefined
}

/** Remaining steps to a start. The operator replaces `<…>`. */
function nextSteps({ networks, relayer, relay, compose }: Made): string[] {
  const owners = networks.map(
    (network) => `"${network}": { "owner": "<address>", "relayer": "${relayer}" }`,
  )
  const of = (network: Network) =>
    networks.length > 1 || (relay && network === 'testnet') ? ` --${network}` : ''
  return [
    'to rehearse it, give --rpc a fork of each chain (anvil --fork-url): a plain anvil has no LayerZero',
    ...(compose ? [] : ['see DATABASE_URL in .env']),
    `name the owners of the contracts, in ${CHAINS}: "deployment": { ${owners.join(', ')} }`,
    ...networks.map(
      (network) =>
        `clusterd contracts deploy${of(network)} --keystore <file> --password-file <file>   # any funded key deploys, the owner's sets up`,
    ),
    ...(relay
      ? [
          `clusterd solana deploy${of(networks[0]!)} --keypair <file>   # the program, paid by this key`,
          `clusterd solana init${of(networks[0]!)} --upgrade-authority <its key> --admin <key> --relay ${relay} --treasury <key> --keypair <file>`,
        ]
      : []),
    `put the addresses that they print into ${CHAINS}${relay ? ", with the hub's price feeds unless it is Ethereum" : ''}`,
    `${compose ? 'docker compose run --rm clusterd' : 'clusterd'} doctor   # checks all of it, and says what to do`,
    compose
      ? 'docker compose up -d      # compose.yaml says how the image is built'
      : 'clusterd start',
  ]
}
