import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import {
  ConfigError,
  encryptKeystore,
  findEnvFileFaults,
  parseDraftChainsFile,
} from '../../config/index.js'
import { LABELLED_FAMILIES, type LabelledFamilyKey } from '../../registry/families.js'
import { fromHex } from '../../registry/primitives/bytes.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import type { Rehearsal } from '../../testing/rehearsal.js'
import { CHAIN_FAMILY_COMMANDS } from '../families.js'
import type { GeneratedRelayerKey } from '../family.js'

/**
 * Options of `clusterd init`. Each chain family that has one label for all its chains has a flag with its name, such as
 * `solana`.
 */
export interface InitOptions extends Partial<Record<LabelledFamilyKey, boolean>> {
  hub: string
  spokes?: string
  rpc?: readonly string[]
  rehearsal?: boolean
  owner?: string
  database?: string
  compose?: boolean
  out: string
}

const SECRET_FILE_MODE = 0o600
const PUBLIC_FILE_MODE = 0o644
const CHAINS_FILE = 'chains.json'
const KEYSTORE_FILE = 'relayer-keystore.json'
const PASSWORD_FILE = 'relayer-password'
const PLACEHOLDER_DATABASE_URL = 'postgresql://clusterd:PASSWORD@127.0.0.1:5432/clusterd'

/**
 * `clusterd init`: writes a new deployment's files, with new keys, into a folder that has none of them.
 * @throws ConfigError, Error with one sentence; nothing is written then
 */
export async function initDeployment(options: InitOptions): Promise<void> {
  const folder = resolve(options.out)
  const rehearsal = options.rehearsal ? readRehearsal() : undefined
  const { compose, owner, database = rehearsal?.database } = options
  if (compose && database)
    throw new Error('--compose brings a database of its own: leave --database out.')
  const draft = rehearsal ? { urlsByFamily: {}, ...rehearsal } : createDraftChainsFile(options)
  const { chains } = parseDraftChainsFile({ chains: draft.chains }, join(folder, CHAINS_FILE))
  const networks = NETWORKS.filter((network) => chains.some((chain) => chain.network === network))
  const [family] = chosenFamilies(options)
  if (family && networks.length > 1)
    throw new Error(
      `--${family.key} takes one network at a time: add the section of the other to ${CHAINS_FILE}.`,
    )
  const sections = Object.entries(draft.urlsByFamily).map(([key, rpcUrls]) => [
    key,
    { [networks[0]!]: { rpcUrls } },
  ])
  const { address: relayer, files: keyFiles } = generateKeystore(KEYSTORE_FILE, PASSWORD_FILE)
  const deployment = Object.fromEntries(networks.map((network) => [network, { owner, relayer }]))
  const content = {
    chains: draft.chains,
    ...Object.fromEntries(sections),
    ...(owner && { deployment }),
  }
  parseDraftChainsFile(content, join(folder, CHAINS_FILE))

  const keys = chosenFamilies(options).flatMap(
    ({ key }) => CHAIN_FAMILY_COMMANDS[key].makeKey?.() ?? [],
  )
  const files: NewFile[] = [
    [CHAINS_FILE, `${JSON.stringify(content, null, 2)}\n`],
    ['.env', envFileText({ compose, database }, keys)],
    ...keyFiles,
    ...keys.map(({ file, content }): NewFile => [file, content]),
  ]
  if (compose) files.push(['compose.yaml', readFileSync(COMPOSE_FILE, 'utf8')])
  writeNewFiles(folder, files)

  console.log(`Written to ${folder}: ${files.map(([name]) => name).join(', ')}.\n`)
  console.log(`The relayer is ${relayer}: it pays for deliveries, on the hub first of all.`)
  for (const { note } of keys) console.log(note)
  console.log(`\nNext, in ${folder}, as docs/run/deploying.md goes through it:`)
  for (const line of nextSteps({ networks, relayer, keys, compose, owner }))
    console.log(`  ${line}`)
}

/** The chain families whose flags are set, such as `--solana`. */
const chosenFamilies = (options: InitOptions) => LABELLED_FAMILIES.filter(({ key }) => options[key])

/** `examples/deploy/compose.yaml` of this package, three levels above `src/cli/init` and `dist/cli/init`. */
const COMPOSE_FILE = new URL('../../../examples/deploy/compose.yaml', import.meta.url)

const splitList = (text = ''): string[] => text.split(/[\s,]+/).filter((part) => part !== '')

/**
 * Makes the entries of EVM chains for a new chains file: label, role and RPC URLs, to which presets add the rest. Also
 * returns the RPC URLs of the other families, by family key.
 * @throws ConfigError that names the wrong option
 */
export function createDraftChainsFile(options: InitOptions) {
  const { hub, spokes, rpc = [] } = options
  const urls = new Map<string, string[]>()
  for (const pair of rpc) {
    const [, label, url] = /^(\w+)=(.+)$/.exec(pair) ?? []
    if (!label || !url)
      throw new ConfigError('--rpc is <label>=<url>, such as 8453=https://base.rpc.example.')
    urls.set(label, [...(urls.get(label) ?? []), url])
  }
  const urlsOf = (label: string): string[] => {
    const rpcUrls = urls.get(label)
    urls.delete(label)
    if (!rpcUrls) throw new ConfigError(`Chain ${label} needs an RPC URL: --rpc ${label}=<url>.`)
    return rpcUrls
  }
  const chainsOf = (labels: string[], role: 'hub' | 'spoke') =>
    labels.map((label) => ({ label, role, rpcUrls: urlsOf(label) }))
  const chains = [...chainsOf(splitList(hub), 'hub'), ...chainsOf(splitList(spokes), 'spoke')]
  const urlsByFamily = Object.fromEntries(
    chosenFamilies(options).map(({ key, label }) => [key, urlsOf(label)]),
  )
  const [stray] = urls.keys()
  if (stray !== undefined)
    throw new ConfigError(`--rpc: "${stray}" is not one of the chosen chains.`)
  return { chains, urlsByFamily }
}

function envFileText(
  { compose, database }: Pick<InitOptions, 'compose' | 'database'>,
  keys: readonly GeneratedRelayerKey[],
): string {
  const password = randomBytes(24).toString('hex')
  const key = () => `0x${randomBytes(32).toString('hex')}`
  const url = compose
    ? `postgresql://clusterd:${password}@postgres:5432/clusterd`
    : (database ?? PLACEHOLDER_DATABASE_URL)
  const isAmbiguous = findEnvFileFaults(`DATABASE_URL=${url}`).length > 0
  const owner = `${process.getuid?.() ?? 1000}:${process.getgid?.() ?? 1000}`
  return [
    '# Written by `clusterd init`; docs/run/configuration.md says what each variable means, and names the others.',
    '# The keys are in no database: keep a copy of this file and of the keystore apart from it.',
    `DATABASE_URL=${isAmbiguous ? `'${url}'` : url}`,
    ...(compose ? [`POSTGRES_PASSWORD=${password}`, `CLUSTERD_USER=${owner}`] : []),
    `CLUSTERD_CHAINS=${CHAINS_FILE}`,
    `TOKEN_KEY=${key()}`,
    `SHARE_KEY=${key()}`,
    `QUOTE_KEY=${key()}`,
    `LOG_KEY=${key()}`,
    `RELAYER_KEYSTORE=${KEYSTORE_FILE}`,
    `RELAYER_PASSWORD_FILE=${PASSWORD_FILE}`,
    ...keys.map(({ variable, file }) => `${variable}=${file}`),
    '# where visitors reach the service, and what it is called in the message that wallets sign',
    '#SITE_URL=https://names.example',
    '#SERVICE_DOMAIN=names.example',
    '',
  ].join('\n')
}

type NewFile = [name: string, content: string]

/** Generates a key. @returns its address, and two files to write: the keystore, and its password */
function generateKeystore(name: string, passwordName: string) {
  const key = generatePrivateKey()
  const address = privateKeyToAddress(key)
  const password = randomBytes(32).toString('hex')
  const files: NewFile[] = [
    [name, encryptKeystore(fromHex(key), password, address)],
    [passwordName, `${password}\n`],
  ]
  return { address, files }
}

/** `clusterd keys keystore`: writes a new key and its password to two files, and prints the key's address. */
export async function writeKeystoreFiles(name: string): Promise<void> {
  const { address, files } = generateKeystore(`${name}.json`, `${name}.txt`)
  writeNewFiles('.', files)
  console.log(address)
}

/** The file, in the current folder, that `clusterd rehearse` writes for other commands. */
export const REHEARSAL_FILE = 'rehearsal.json'

const NO_REHEARSAL_TEXT = 'No rehearsal runs in this folder: run `clusterd rehearse` here first.'

/** Reads the file of the rehearsal that runs in this folder. @throws ConfigError where none runs */
export function readRehearsal(): Rehearsal {
  try {
    const rehearsal: Rehearsal & { pid: number } = JSON.parse(readFileSync(REHEARSAL_FILE, 'utf8'))
    // throws if the process has ended: a killed rehearsal leaves its file behind
    process.kill(rehearsal.pid, 0)
    return rehearsal
  } catch {
    throw new ConfigError(NO_REHEARSAL_TEXT)
  }
}

/**
 * Writes the files, or no file if the folder already has a file with one of the names. All files but compose.yaml are
 * readable only by their owner, because they hold secrets: an RPC URL may hold a provider's key.
 */
function writeNewFiles(folder: string, files: readonly NewFile[]): void {
  const existing = files.flatMap(([name]) => (existsSync(resolve(folder, name)) ? [name] : []))
  if (existing.length > 0)
    throw new Error(
      `${folder} already holds ${existing.join(', ')}: nothing was written. Choose another place.`,
    )
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [name, content] of files)
    writeFileSync(resolve(folder, name), content, {
      mode: name === 'compose.yaml' ? PUBLIC_FILE_MODE : SECRET_FILE_MODE,
      flag: 'wx',
    })
}

interface NewDeployment {
  networks: readonly Network[]
  relayer: string
  keys: readonly GeneratedRelayerKey[]
  compose: boolean | undefined
  owner: string | undefined
}

/** Lines that tell an operator the remaining steps up to `clusterd start`. The operator replaces each `<…>`. */
function nextSteps({ networks, relayer, keys, compose, owner }: NewDeployment): string[] {
  const owners = networks.map(
    (network) => `"${network}": { "owner": "<address>", "relayer": "${relayer}" }`,
  )
  const of = (network: Network) =>
    networks.length > 1 || (keys.length > 0 && network === 'testnet') ? ` --${network}` : ''
  return [
    ...(compose ? [] : ['see DATABASE_URL in .env']),
    ...(owner
      ? []
      : [
          `name the owners of the contracts, in ${CHAINS_FILE}: "deployment": { ${owners.join(', ')} }`,
        ]),
    ...networks.map(
      (network) =>
        `clusterd contracts deploy${of(network)} --write --keystore <file> --password-file <file>   # any funded key deploys, the owner's sets up`,
    ),
    ...keys.flatMap(({ steps }) => steps(of(networks[0]!))),
    ...(keys.length > 0
      ? [
          `put what they print into ${CHAINS_FILE}, with the hub's price feeds unless it is Ethereum`,
        ]
      : []),
    `${compose ? 'docker compose run --rm clusterd' : 'clusterd'} doctor   # checks all of it, and says what to do`,
    compose
      ? 'docker compose up -d      # compose.yaml says how the image is built'
      : 'clusterd start',
  ]
}
