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

/** Rules as options. */
export interface RuleOptions extends CommunityOptions {
  rules?: string
  price?: string[]
  ownersOnly?: boolean
  startsAt?: string
  allow?: string[]
  holds?: string[]
  memberOf?: string[]
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
export async function set(input: string, options: RuleOptions): Promise<void> {
  const [community, network] = [nameOf(input, 'name'), networkOf(options)]
  const { chainsFile } = readEnvironment()
  const rules = readRules(options, readChains(chainsFile), network)
  await withPool(DATABASE, async (pool) => {
    const change = { kind: 'configure_community', actor: null, community, rules } as const
    const made = await appendCommunityChange(pool, { network, change })
    if (made.kind === 'catching_up')
      throw new Error(`The ${network} is being indexed for the first time: try again then.`)
    if (made.kind === 'refused') throw new Error(`Nobody holds the name "${community}" on the ${network}.`)
    printJson({ name: community, ...communityRulesJson(rules) })
  })
}

/** Parses the rules in options. @throws Error with all problems */
export function readRules(
  options: RuleOptions,
  { chains, solana }: Pick<ChainsFile, 'chains' | 'solana'>,
  network: Network,
) {
  const own = chains.filter((chain) => chain.network === network)
  const isSolana = (label: string) => label === SOLANA_LABEL && solana[network] !== undefined
  const rules = parseCommunityRules(rulesOf(options), {
    isEnabled: (label) => isSolana(label) || own.some((chain) => chain.label === label),
    takesPayments: (label) => isSolana(label) || own.some((chain) => chain.label === label && chain.communityPayments),
  })
  if (!('problems' in rules)) return rules
  const problems = rules.problems.map(({ path, message }) => `${path || 'rules'} ${message}`)
  throw new Error(`These rules can not be taken: ${problems.join('; ')}.`)
}

function rulesOf({ rules: file, ...options }: RuleOptions): unknown {
  const { price = [], holds = [], allow = [], memberOf = [], ownersOnly, startsAt } = options
  const given = price.length + holds.length + allow.length + memberOf.length > 0 || ownersOnly || startsAt !== undefined
  if (file !== undefined && given) throw new Error('Give the rules in a file or as options, not both.')
  if (file !== undefined) return readFile(file)
  return {
    prices: price.map((text) => {
      const [network, token, amount, recipient] = parts('--price', text, 'network:token:amount:recipient', 4)
      return { network, token, amount, recipient }
    }),
    ownersOnly: ownersOnly ?? false,
    startsAt: startsAt ?? null,
    requirements: [
      ...holds.map((text) => {
        const [network, token, minimum] = parts('--holds', text, 'network:token:minimum', 3)
        return { kind: 'token', network, token, minimum }
      }),
      ...(allow.length > 0 ? [{ kind: 'allowlist', addresses: allow }] : []),
      ...memberOf.map((name) => ({ kind: 'cluster', name })),
    ],
  }
}

function parts(option: string, text: string, form: string, count: number): string[] {
  const found = text.split(':')
  if (found.length !== count) throw new Error(`${option} is ${form}, not "${text}".`)
  return found
}

function readFile(file: string): unknown {
  if (!existsSync(file)) throw new Error(`The file ${file} does not exist.`)
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`The file ${file} is not JSON: ${(error as Error).message}.`)
  }
}
