import { existsSync, readFileSync } from 'node:fs'
import { type ChainsFile, readChains, readEnvironment } from '../../config/index.js'
import { appendCommunityChange } from '../../db/journal/appendSignedChanges.js'
import { findCommunityHistory, findCommunityRules, listCommunities } from '../../db/registry/communityNames.js'
import { type CommunityRules, communityRulesJson, parseCommunityRules } from '../../registry/community/rules.js'
import { type Network, SOLANA_LABEL } from '../../registry/primitives/network.js'
import { withPool } from '../database.js'
import { printJson, printList } from '../output.js'
import { type NetworkOptions, nameOf, networksOf } from '../values.js'

const DATABASE = { command: 'community' }

export interface CommunityOptions extends NetworkOptions {
  json?: boolean
}

export interface SetOptions extends CommunityOptions {
  rules?: string
}

const networkOf = ({ testnet }: CommunityOptions): Network => (testnet ? 'testnet' : 'mainnet')

/** `clusterd community list`. */
export async function list({ json, ...options }: CommunityOptions): Promise<void> {
  const found = await withPool(DATABASE, async (pool) => {
    const lists = networksOf(options).map(async (network) =>
      (await listCommunities(pool, network)).map((one) => ({ network, ...one })),
    )
    return (await Promise.all(lists)).flat()
  })
  printList(found, {
    ...{ json, none: 'No communities.' },
    describe: ({ network, name, names, rules }) => ({ network, name, names, ...communityRulesJson(rules) }),
    titles: ['NETWORK', 'COMMUNITY', 'NAMES', 'RULES'],
    cells: ({ network, name, names, rules }) => [network, name, names, summary(rules)],
  })
}

function summary({ prices, ownersOnly, startsAtMs, requirements }: CommunityRules): string {
  const parts = [prices.length > 0 ? `${prices.length} prices` : ownersOnly ? 'owners only' : 'free']
  if (requirements.length > 0) parts.push(`${requirements.length} requirements`)
  if (startsAtMs !== null) parts.push(`from ${new Date(startsAtMs).toISOString()}`)
  return parts.join(', ')
}

/**
 * `clusterd community show`: prints the rules as JSON, or their history.
 * @throws Error where the name is no community
 */
export async function show(input: string, options: CommunityOptions & { history?: boolean }): Promise<void> {
  const [name, network] = [nameOf(input, 'name'), networkOf(options)]
  await withPool(DATABASE, async (pool) => {
    if (options.history) {
      const history = await findCommunityHistory(pool, network, name)
      const since = (atMs: number) => new Date(atMs).toISOString()
      return printJson(history.map(({ atMs, rules }) => ({ since: since(atMs), ...communityRulesJson(rules) })))
    }
    const rules = await findCommunityRules(pool, network, name)
    if (!rules) throw new Error(`"${name}" is no community of the ${network}: \`clusterd community set\` makes it one.`)
    printJson({ name, ...communityRulesJson(rules) })
  })
}

/**
 * `clusterd community set`: replaces a name's rules as a whole, by the operator.
 * @throws Error with one sentence that names the problem
 */
export async function set(input: string, options: SetOptions): Promise<void> {
  const [community, network] = [nameOf(input, 'name'), networkOf(options)]
  const { chainsFile } = readEnvironment()
  const rules = readRules(options.rules, readChains(chainsFile), network)
  await withPool(DATABASE, async (pool) => {
    const change = { kind: 'configure_community', actor: null, community, rules } as const
    const made = await appendCommunityChange(pool, { network, change })
    if (made.kind === 'catching_up')
      throw new Error(`The ${network} is being indexed for the first time: try again then.`)
    if (made.kind === 'refused') throw new Error(`Nobody holds the name "${community}" on the ${network}.`)
    printJson({ name: community, ...communityRulesJson(rules) })
  })
}

/** Reads a file of rules; without one they are free for everybody. @throws Error with all problems */
export function readRules(
  file: string | undefined,
  { chains, solana }: Pick<ChainsFile, 'chains' | 'solana'>,
  network: Network,
) {
  const own = chains.filter((chain) => chain.network === network)
  const isSolana = (label: string) => label === SOLANA_LABEL && solana[network] !== undefined
  const rules = parseCommunityRules(file === undefined ? {} : readFile(file), {
    isEnabled: (label) => isSolana(label) || own.some((chain) => chain.label === label),
    takesPayments: (label) => isSolana(label) || own.some((chain) => chain.label === label && chain.communityPayments),
  })
  if (!('problems' in rules)) return rules
  const problems = rules.problems.map(({ path, message }) => `${path || 'rules'} ${message}`)
  throw new Error(`These rules can not be taken: ${problems.join('; ')}.`)
}

function readFile(file: string): unknown {
  if (!existsSync(file)) throw new Error(`The file ${file} does not exist.`)
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`The file ${file} is not JSON: ${(error as Error).message}.`)
  }
}
