import { readFileSync, realpathSync, statSync } from 'node:fs'
import { z } from 'zod'
import { NETWORK_OF_CHAIN_LABEL, NETWORKS, type Network } from '../registry/primitives/network.js'
import { networkDeploymentSchema } from './deployment.js'
import { ConfigError, combinedConfigError, parseConfigInput } from './error.js'
import { type DraftChainConfig, evmChainSchema } from './evmChain.js'
import {
  evmAddress,
  httpUrl,
  nonnegativeInt,
  positiveInt,
  recordByChainId,
  weiText,
} from './fieldSchemas.js'
import { writeFileAtomically } from './files.js'
import { type JsonSchema, missingNewFields, type NewField } from './newFields.js'
import {
  checkNonEvmSections,
  configuredNonEvmSections,
  findHubDraft,
  missingNonEvmSettings,
  type NonEvmSections,
  nonEvmSectionSchemas,
  schemaPerNetwork,
  withNonEvmPresets,
} from './nonEvmSections.js'

/** Settings of the relayer on a network's EVM chains. */
const deliverySettingsSchema = z.strictObject({
  /** Execute packets that the bridge's own executors have not executed. On a local network all packets are executed. */
  executeStranded: z.boolean().default(false),
  /** Maximum cost of a job, value and gas; default 1 ETH, on a local hub 100 ETH. */
  spendCapWei: weiText.transform(BigInt).optional(),
  /**
   * Maximum that the relayer spends on a chain per day (UTC), value and gas; default 5 times `spendCapWei`, on a local
   * hub 1,000,000 ETH.
   */
  dailyCapWei: weiText.transform(BigInt).optional(),
  /** Age from which a packet counts as stranded, if the hub has not received it. */
  strandedAfterMs: positiveInt.default(30 * 60_000),
})

/** ENS name under which a network's names resolve. */
const ensParentSchema = z.strictObject({
  /** The ENS name, such as `bundles.eth`. */
  parent: z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'must be an ENS name of a-z, 0-9 and -'),
  /** Address of the contract EnsResolver, the resolver of `parent`. A draft may leave it out. */
  resolver: evmAddress.optional(),
  /** EIP-155 id of the resolver's chain. */
  chainId: positiveInt,
  /** Nodes of the resolver's chain, for commands. Needed only if `chains` does not list the chain. */
  rpcUrls: z.array(httpUrl).min(1).optional(),
  /** Address of ENS's registry, for commands. Needed only on a local chain. */
  registry: evmAddress.optional(),
  /** Reverse registrars by the ids of their chains, where wallets set their primary names (ENSIP-19). */
  reverseRegistrars: recordByChainId(evmAddress).optional().meta({ since: '1.0.0' }),
})

/**
 * Schema of the chains file's sections, without the checks between sections. `since` in the metadata of a field names
 * the release that added the field.
 */
const sectionsSchema = z.strictObject({
  chains: z.array(evmChainSchema).min(1).readonly(),
  ...nonEvmSectionSchemas,
  ens: schemaPerNetwork(ensParentSchema),
  deliveries: z
    .strictObject({
      mainnet: deliverySettingsSchema.prefault({}),
      testnet: deliverySettingsSchema.prefault({}),
    })
    .prefault({}),
  /** Contracts that `clusterd contracts` deploys. */
  deployment: schemaPerNetwork(networkDeploymentSchema),
  payments: z
    .strictObject({
      /**
       * Age at which the relayer queues the release of a payment that bought a community name, ms. At the latest, it
       * queues the release after `RELEASE_HOLDING_TIME_SHARE` (70 %) of the payment's holding time.
       */
      releaseAfterMs: nonnegativeInt.default(5 * 86_400_000),
      /**
       * Smallest payment, in a chain's own coin, that the relayer gives back by a refusal, as a multiple of the
       * refusal's cost. Smaller payments are left to their payers, who can reclaim them. Default 1, with a local hub 0.
       */
      refusalWorth: z.number().nonnegative().optional(),
    })
    .prefault({}),
})
type ChainsFileSections = z.output<typeof sectionsSchema>

const DEFAULT_SPEND_CAP_WEI = 10n ** 18n
const LOCAL_SPEND_CAP_WEI = 100n * 10n ** 18n
const DAILY_CAP_IN_SPEND_CAPS = 5n
const LOCAL_DAILY_CAP_WEI = 10n ** 24n

const chainsFileSchema = sectionsSchema
  .transform((file, ctx) => {
    const issue = (path: (string | number)[], message: string) =>
      ctx.addIssue({ code: 'custom', path, message })
    checkChains(file, issue)
    checkNetworks(file, issue)
    checkNonEvmSections(file, issue)
    return file
  })
  .transform(withDefaults)
  .readonly()

/** Fills in the defaults that depend on other settings of the chains file. */
function withDefaults({ deliveries: { mainnet, testnet }, ...file }: ChainsFileSections) {
  const settingsOf = (network: 'mainnet' | 'testnet', settings: typeof mainnet) => {
    const isLocal = findHubDraft(file.chains, network)?.local
    const spendCapWei =
      settings.spendCapWei ?? (isLocal ? LOCAL_SPEND_CAP_WEI : DEFAULT_SPEND_CAP_WEI)
    const dailyCapWei =
      settings.dailyCapWei ??
      (isLocal ? LOCAL_DAILY_CAP_WEI : DAILY_CAP_IN_SPEND_CAPS * spendCapWei)
    const { releaseAfterMs, refusalWorth = isLocal ? 0 : 1 } = file.payments
    return { ...settings, spendCapWei, dailyCapWei, releaseAfterMs, refusalWorth }
  }
  return {
    ...withNonEvmPresets(file),
    deliveries: {
      mainnet: settingsOf('mainnet', mainnet),
      testnet: settingsOf('testnet', testnet),
    },
  }
}

type AddSchemaIssue = (path: (string | number)[], message: string) => void

function checkChains({ chains }: ChainsFileSections, issue: AddSchemaIssue): void {
  chains.forEach((chain, i) => {
    const { label, network, contract, communityPayments, watchOnly } = chain
    if (NETWORK_OF_CHAIN_LABEL[label] !== network)
      issue(['chains', i, 'network'], `label "${label}" belongs to the other network`)
    if (chains.findIndex((chain) => chain.label === label) < i)
      issue(['chains', i, 'label'], `"${label}" is listed twice`)
    if (communityPayments && watchOnly)
      issue(['chains', i, 'communityPayments'], 'does not go with watchOnly')
    if (communityPayments && communityPayments === contract)
      issue(['chains', i, 'communityPayments'], 'is the hub or spoke contract')
    if (chain.trust === 'compared' && chain.rpcUrls.length < 2)
      issue(['chains', i, 'trust'], '"compared" needs two `rpcUrls`: one node compares nothing')
  })
}

function checkNetworks(file: ChainsFileSections, issue: AddSchemaIssue): void {
  const { mainnet, testnet } = file.ens
  for (const network of NETWORKS) {
    const ofNetwork = file.chains.filter((chain) => chain.network === network)
    const hubs = ofNetwork.filter(({ role }) => role === 'hub')
    const isUsed = [...ofNetwork, ...configuredNonEvmSections(file)].some(
      (one) => one.network === network,
    )
    if (isUsed && hubs.length !== 1)
      issue(['chains'], `${network} needs exactly one hub, has ${hubs.length}`)
  }
  // an ENS name below both parents would belong to both networks
  const one = `.${mainnet?.parent}`
  const other = `.${testnet?.parent}`
  if (mainnet && testnet && (one.endsWith(other) || other.endsWith(one)))
    issue(['ens', 'testnet', 'parent'], 'may not be that of mainnet, nor lie above or below it')
}

/** A chains file whose contracts may not be deployed yet, as `clusterd init` writes it. */
export type DraftChainsFile = z.output<typeof chainsFileSchema>
export type ChainConfig = DraftChainConfig & { readonly contract: `0x${string}` }
/** Settings of an ENS parent name in a draft of the chains file, whose resolver may not be deployed yet. */
export type DraftEnsParentSettings = z.output<typeof ensParentSchema>
export type EnsParentSettings = DraftEnsParentSettings & { readonly resolver: `0x${string}` }
export interface ChainsFile
  extends Omit<DraftChainsFile, 'chains' | 'ens' | keyof NonEvmSections>,
    NonEvmSections {
  readonly chains: readonly ChainConfig[]
  readonly ens: Readonly<Partial<Record<Network, EnsParentSettings>>>
}
export type DeliverySettings = ChainsFile['deliveries']['mainnet']

/** Content of a chains file without chains: every setting has its default. */
export const emptyChainsFile = (): ChainsFile => {
  const empty = sectionsSchema.extend({ chains: z.array(evmChainSchema).readonly() })
  return withDefaults(empty.parse({ chains: [] })) as ChainsFile
}

/** Reads a chains file that must be complete. @throws ConfigError, also where a contract is not deployed yet */
export const readChainsFile = (file: string): ChainsFile =>
  requireComplete(readDraftChainsFile(file), file)

/** Reads a chains file whose contracts may not be deployed yet. @throws ConfigError */
export const readDraftChainsFile = (file: string): DraftChainsFile =>
  parseDraftChainsFile(readChainsFileJson(file), file)

/** Fields that a release has added (`since` in the schema) and that a chains file does not set. @throws ConfigError */
export const missingNewFieldsOfChainsFile = (file: string): NewField[] =>
  missingNewFields(chainsFileJsonSchema(), readChainsFileJson(file))

/** JSON schema of a chains file as it is written, before defaults. A type without a JSON schema accepts any value. */
export const chainsFileJsonSchema = (): JsonSchema =>
  z.toJSONSchema(sectionsSchema, { io: 'input', unrepresentable: 'any' }) as JsonSchema

/**
 * Adds fields to EVM chains of a chains file, and keeps its other fields, indentation, owner and mode. The file is
 * replaced atomically.
 * @param added fields by the chain's label
 * @throws ConfigError; Error of the file system where the file can't be replaced
 */
export function addChainFields(file: string, added: ReadonlyMap<string, object>): void {
  const json = readChainsFileJson(file) as { chains: { label: string }[] }
  for (const chain of json.chains) Object.assign(chain, added.get(chain.label))
  parseDraftChainsFile(json, file)
  const indentation = /^[ \t]+/m.exec(readChainsFileText(file))?.[0] ?? 2
  const target = realpathSync(file)
  writeFileAtomically(target, `${JSON.stringify(json, null, indentation)}\n`, statSync(target))
}

function readChainsFileJson(file: string): unknown {
  const text = readChainsFileText(file)
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new ConfigError(`The chains file ${file} is not JSON: ${(error as Error).message}.`)
  }
}

function readChainsFileText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT')
      throw new ConfigError(
        `The chains file ${file} does not exist: set CLUSTERD_CHAINS to one (docs/run/configuration.md shows its form).`,
      )
    throw new ConfigError(
      `The chains file ${file} can not be read (${code}): let this user read it, or name another.`,
    )
  }
}

/** Validates a chains file whose contracts may not be deployed yet. @throws ConfigError */
export const parseDraftChainsFile = (json: unknown, file: string): DraftChainsFile =>
  parseConfigInput(chainsFileSchema, json, nameInErrors(file))

/** Validates the content of a complete chains file. @throws ConfigError */
export const parseChainsFile = (json: unknown, file: string): ChainsFile =>
  requireComplete(parseDraftChainsFile(json, file), file)

const nameInErrors = (file: string): string => `the chains file ${file}`

/** Checks that a draft has all that a start needs. @throws ConfigError that says how to add each missing part */
function requireComplete(draft: DraftChainsFile, file: string): ChainsFile {
  const faults: string[] = []
  const undeployed = draft.chains
    .filter(({ contract }) => !contract)
    .map(({ label }) => `"${label}"`)
  if (undeployed.length > 0)
    faults.push(
      `no contract is named for ${undeployed.join(', ')}: \`clusterd contracts deploy\` deploys and prints it`,
    )
  for (const network of NETWORKS) {
    const ens = draft.ens[network]
    if (ens && !ens.resolver)
      faults.push(
        `ens.${network}.resolver is missing: \`clusterd contracts deploy --ens ${ens.parent}\` deploys it`,
      )
  }
  faults.push(...missingNonEvmSettings(draft))
  if (faults.length > 0) throw combinedConfigError(faults, nameInErrors(file))
  return draft as ChainsFile
}
