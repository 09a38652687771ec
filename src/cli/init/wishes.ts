import { labelsOf, presetOf } from '../../config/index.js'
import { NETWORKS, type Network, SOLANA_LABEL } from '../../registry/primitives/network.js'
import { networkOf } from '../values.js'

/** Options of `clusterd init`. */
export interface InitOptions {
  network?: string
  hub?: string
  spokes?: string
  rpc?: readonly string[]
  solana?: boolean
  database?: string
  compose?: boolean
  out: string
  yes?: boolean
}

/** What a deployment is to have. */
export interface Wishes {
  chains: { label: string; role: 'hub' | 'spoke'; rpcUrls: string[] }[]
  solana: { network: Network; rpcUrls: string[] } | null
  /** undefined: a placeholder, or that of the compose file. */
  databaseUrl: string | undefined
  compose: boolean
}

/** A question with the option that answers it, and what nothing means. */
interface Question {
  text: string
  option: string
  fallback?: string
}
/** @throws Error that names the option where nobody can be asked and nothing means nothing */
export type Ask = (question: Question) => Promise<string>

const USUAL_HUB: Readonly<Record<Network, string>> = { mainnet: '1', testnet: '11155111' }

/** Gathers what options say and asks for the rest. @throws Error with one sentence that names the option */
export async function wishesOf(options: InitOptions, ask: Ask): Promise<Wishes> {
  const hubs = listOf(options.hub).map((label) => checked('--hub', label))
  const spokes = options.spokes === undefined ? null : listOf(options.spokes).map((label) => checked('--spokes', label))
  const networks = await networksOf(options, [...hubs, ...(spokes ?? [])], ask)
  const urls = urlsByLabel(options.rpc ?? [])
  const roles: { label: string; role: 'hub' | 'spoke' }[] = []
  for (const network of networks) {
    roles.push({ label: await hubOf(network, hubs, ask), role: 'hub' })
    const chosen = spokes ?? (await askSpokes(network, ask))
    const ofNetwork = chosen.filter((label) => presetOf(label)!.network === network)
    roles.push(...ofNetwork.map((label) => ({ label, role: 'spoke' as const })))
  }
  const doubled = roles.find(({ label }, i) => roles.findIndex((other) => other.label === label) < i)
  if (doubled) throw new Error(`The chain ${doubled.label} is named twice: a chain is the hub or a spoke.`)
  const chains: Wishes['chains'] = []
  for (const { label, role } of roles) chains.push({ label, role, rpcUrls: await rpcUrlsOf(label, urls, ask) })
  const solana = await solanaOf(options, { networks, urls, ask })
  const stray = [...urls.keys()].find((label) => !(solana && label === SOLANA_LABEL) && !isIn(chains, label))
  if (stray !== undefined) throw new Error(`--rpc: "${stray}" is none of the chains that were chosen.`)
  return { chains, solana, ...(await databaseOf(options, ask)) }
}

const isIn = (chains: Wishes['chains'], label: string): boolean => chains.some((chain) => chain.label === label)
const listOf = (text = ''): string[] => text.split(/[\s,]+/).filter((part) => part !== '')
const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer.trim())

function checked(option: string, label: string): string {
  if (!presetOf(label))
    throw new Error(`${option}: "${label}" is no network label: ${NETWORKS.flatMap(labelsOf).join(', ')}.`)
  return label
}

async function networksOf(options: InitOptions, labels: readonly string[], ask: Ask): Promise<readonly Network[]> {
  const meant = NETWORKS.filter((network) => labels.some((label) => presetOf(label)!.network === network))
  if (options.network === undefined && meant.length > 0) return meant
  const text =
    options.network ?? (await ask({ text: 'mainnet, testnet, or both?', option: '--network', fallback: 'testnet' }))
  const chosen = text.trim() === 'both' ? NETWORKS : listOf(text).map(networkOf)
  const other = labels.find((label) => !chosen.includes(presetOf(label)!.network))
  if (other) throw new Error(`The chain ${other} belongs to the other network: see --network.`)
  return NETWORKS.filter((network) => chosen.includes(network))
}

async function hubOf(network: Network, hubs: readonly string[], ask: Ask): Promise<string> {
  const [given, second] = hubs.filter((label) => presetOf(label)!.network === network)
  if (second) throw new Error(`--hub: a network has one hub, and ${given} and ${second} are of the ${network}.`)
  const text = `The hub of the ${network}, the chain that decides names?`
  const label = given ?? checked('--hub', (await ask({ text, option: '--hub', fallback: USUAL_HUB[network] })).trim())
  if (presetOf(label)!.network !== network) throw new Error(`--hub: ${label} is no chain of the ${network}.`)
  return label
}

async function askSpokes(network: Network, ask: Ask): Promise<string[]> {
  const text = `Spokes of the ${network} (of ${labelsOf(network).join(', ')})?`
  return listOf(await ask({ text, option: '--spokes', fallback: '' })).map((label) => checked('--spokes', label))
}

/** `<label>=<url>`, any number for each label. */
function urlsByLabel(pairs: readonly string[]): Map<string, string[]> {
  const urls = new Map<string, string[]>()
  for (const pair of pairs) {
    const [, label, url] = /^(\w+)=(.+)$/.exec(pair) ?? []
    if (!label || !url) throw new Error(`--rpc is <label>=<url>, such as 8453=https://base.rpc.example.`)
    urls.set(label, [...(urls.get(label) ?? []), url])
  }
  return urls
}

async function rpcUrlsOf(label: string, urls: Map<string, string[]>, ask: Ask): Promise<string[]> {
  const name = presetOf(label)?.name ?? 'Solana'
  const option = `--rpc ${label}=<url>`
  const given = urls.get(label) ?? listOf(await ask({ text: `RPC URLs of ${name} (${label})?`, option }))
  if (given.length === 0) throw new Error(`${name} (${label}) needs an RPC URL: ${option}.`)
  return given
}

interface SolanaQuestion {
  networks: readonly Network[]
  urls: Map<string, string[]>
  ask: Ask
}

async function solanaOf(options: InitOptions, { networks, urls, ask }: SolanaQuestion): Promise<Wishes['solana']> {
  const isWanted =
    options.solana ?? isYes(await ask({ text: 'Payments on Solana too (y/n)?', option: '--solana', fallback: 'n' }))
  if (!isWanted) return null
  const [network, another] = networks
  if (another) throw new Error('--solana goes with one network at a time: add the section of the other to chains.json.')
  return { network: network!, rpcUrls: await rpcUrlsOf(SOLANA_LABEL, urls, ask) }
}

async function databaseOf(
  { database, compose }: InitOptions,
  ask: Ask,
): Promise<Pick<Wishes, 'databaseUrl' | 'compose'>> {
  if (compose && database) throw new Error('--compose brings a database of its own: leave --database out.')
  if (compose) return { databaseUrl: undefined, compose: true }
  const text = 'URL of the PostgreSQL (empty: to be filled in later)?'
  const databaseUrl = database ?? (await ask({ text, option: '--database', fallback: '' })).trim()
  return { databaseUrl: databaseUrl || undefined, compose: false }
}
