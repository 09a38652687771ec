import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import bs58 from 'bs58'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { sealKeystore } from '../../config/index.js'
import { fromHex } from '../../registry/primitives/bytes.js'
import { ed25519PublicKey } from '../../registry/primitives/ed25519.js'
import type { Wishes } from './wishes.js'

const SECRET = 0o600
const PUBLIC = 0o644
const KEYSTORE = 'relayer-keystore.json'
const PASSWORD = 'relayer-password'
const SOLANA_KEY = 'solana-relayer.json'
const PLACEHOLDER = 'postgresql://clusterd:PASSWORD@127.0.0.1:5432/clusterd'

export interface NewFile {
  name: string
  content: string
  mode: number
}

/** The files of a deployment, and the addresses of the keys in them. */
export interface NewDeployment {
  files: NewFile[]
  /** The relayer's account on EVM chains, and the relay authority's on Solana. */
  relayer: string
  relayAuthority: string | null
}

/** Makes the files of a deployment with new keys. @param owner `uid:gid` that the compose file runs as */
export function newDeployment(wishes: Wishes, owner: string): NewDeployment {
  const key = generatePrivateKey()
  const relayer = privateKeyToAddress(key)
  const password = randomBytes(32).toString('hex')
  const solana = wishes.solana ? newSolanaKey() : null
  const files = [
    { name: 'chains.json', content: chainsFileOf(wishes), mode: SECRET },
    { name: '.env', content: environmentOf(wishes, owner), mode: SECRET },
    { name: KEYSTORE, content: sealKeystore(fromHex(key), password, relayer), mode: SECRET },
    { name: PASSWORD, content: `${password}\n`, mode: SECRET },
    ...(solana ? [{ name: SOLANA_KEY, content: solana.file, mode: SECRET }] : []),
    ...(wishes.compose ? [{ name: 'compose.yaml', content: composeFile(), mode: PUBLIC }] : []),
  ]
  return { files, relayer, relayAuthority: solana?.address ?? null }
}

/** The 64 bytes of seed and public key as a JSON array, as `solana-keygen` writes them. */
function newSolanaKey(): { file: string; address: string } {
  const seed = randomBytes(32)
  const publicKey = ed25519PublicKey(seed)
  return { file: `${JSON.stringify([...seed, ...publicKey])}\n`, address: bs58.encode(publicKey) }
}

/** A draft: what a label's preset knows is left out, and so are the contracts. RPC URLs may hold a provider's key. */
export function chainsFileOf({ chains, solana }: Pick<Wishes, 'chains' | 'solana'>): string {
  const sections = { chains, ...(solana && { solana: { [solana.network]: { rpcUrls: solana.rpcUrls } } }) }
  return `${JSON.stringify(sections, null, 2)}\n`
}

function environmentOf({ solana, compose, databaseUrl }: Wishes, owner: string): string {
  const password = randomBytes(24).toString('hex')
  const key = () => `0x${randomBytes(32).toString('hex')}`
  const database = compose ? `postgresql://clusterd:${password}@postgres:5432/clusterd` : (databaseUrl ?? PLACEHOLDER)
  return [
    '# Written by `clusterd init`; docs/configuration.md says what each variable means, and names the others.',
    '# The keys are in no database: keep a copy of this file and of the keystore apart from it.',
    `DATABASE_URL=${database}`,
    ...(compose ? [`POSTGRES_PASSWORD=${password}`, `CLUSTERD_USER=${owner}`] : []),
    'CLUSTERD_CHAINS=chains.json',
    `TOKEN_KEY=${key()}`,
    `SHARE_KEY=${key()}`,
    `QUOTE_KEY=${key()}`,
    `RELAYER_KEYSTORE=${KEYSTORE}`,
    `RELAYER_PASSWORD_FILE=${PASSWORD}`,
    ...(solana ? [`SOLANA_RELAYER_KEY_FILE=${SOLANA_KEY}`] : []),
    '# where visitors reach the service, and what it is called in the message that wallets sign',
    '#SITE_URL=https://names.example',
    '#SERVICE_DOMAIN=names.example',
    '',
  ].join('\n')
}

/** `examples/deploy/compose.yaml` of this package, three levels up from `src/cli/init` and from `dist/cli/init`. */
const composeFile = (): string =>
  readFileSync(new URL('../../../examples/deploy/compose.yaml', import.meta.url), 'utf8')
