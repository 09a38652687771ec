import {
  type Config,
  ConfigError,
  findAmbiguousEnvLines,
  missingNewFieldsOfChainsFile,
  readConfigWithProblems,
} from '../../config/index.js'
import type { DaemonChainFamily } from '../../daemon/families/family.js'
import { CHAIN_FAMILIES } from '../../daemon/families/index.js'
import {
  type DoctorFinding,
  type FindingLevel,
  failureResult,
  okResult,
  omitConsequentOutages,
  warningResult,
} from '../../ops/finding.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import { colourText, printJson } from '../output.js'
import { checkDatabase } from './database.js'
import { checkEnsNames } from './ens.js'

const LEVEL_LABELS: Readonly<Record<FindingLevel, string>> = {
  ok: colourText('green', 'ok  '),
  warn: colourText('yellow', 'warn'),
  bad: colourText('bold', 'BAD '),
}

/** `clusterd doctor`: checks everything that a start needs, without changes. Exits with 1 where a finding is bad. */
export async function runDoctorCommand(
  { json }: { json?: boolean },
  families: readonly DaemonChainFamily[] = CHAIN_FAMILIES,
): Promise<void> {
  const envFileFindings = findAmbiguousEnvLines().map(({ about, found, remedy }) => ({
    about,
    ...warningResult(found, remedy),
  }))
  const findings = [...envFileFindings, ...(await collectFindings(families))]
  if (json) printJson(findings.map(({ isNode, isOutage, ...finding }) => finding))
  else for (const finding of findings) printFinding(finding)
  const count = (level: FindingLevel) =>
    findings.filter((finding) => finding.level === level).length
  if (!json) console.log(`\n${count('ok')} ok, ${count('warn')} to check, ${count('bad')} bad`)
  if (count('bad') > 0) process.exitCode = 1
}

function printFinding({ about, level, found, advice }: DoctorFinding): void {
  console.log(`${LEVEL_LABELS[level]}  ${about}: ${found}`)
  if (advice) console.log(`        ${colourText('dim', advice)}`)
}

async function collectFindings(families: readonly DaemonChainFamily[]): Promise<DoctorFinding[]> {
  let read: ReturnType<typeof readConfigWithProblems>
  try {
    read = readConfigWithProblems()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [configurationFault(error.message)]
  }
  const { config, problems } = read
  const [ofDatabase, ...ofChains] = await Promise.all([
    config.databaseUrl === '' ? [] : checkDatabase(config),
    ...families.map((family) => family.examine(config)),
    checkEnsNames(config),
  ])
  return [
    ...(problems.length > 0
      ? problems.map(configurationFault)
      : [{ about: 'configuration', ...okResult('read') }, newFieldsFinding(config)]),
    ...keyAndProxyFindings(config),
    ...ofDatabase,
    ...omitConsequentOutages(ofChains.flat()),
  ]
}

const configurationFault = (message: string): DoctorFinding => ({
  about: 'configuration',
  ...failureResult(message, 'docs/run/configuration.md has each variable and field.'),
})

/** Names the new fields that the chains file does not set. It is no fault: the service works with their defaults. */
function newFieldsFinding({ chainsFile }: Config): DoctorFinding {
  const unset = missingNewFieldsOfChainsFile(chainsFile).map(
    ({ field, since }) => `${field} (${since})`,
  )
  const text =
    unset.length === 0
      ? 'sets every new field'
      : `new fields have their defaults: ${unset.join(', ')}`
  return { about: 'chains file', ...okResult(text) }
}

function keyAndProxyFindings({
  chains,
  roles,
  relayerKey,
  shareKeys,
  trustProxy,
}: Config): DoctorFinding[] {
  const carries = NETWORKS.some(
    (network) => chains.filter((chain) => chain.network === network).length > 1,
  )
  const relays =
    roles.includes('relay') &&
    (carries || chains.some(({ communityPayments }) => communityPayments))
  const advice =
    'Set RELAYER_PRIVATE_KEY, a keystore or a signer, or leave the role to another process.'
  const findings: DoctorFinding[] = []
  if (relays)
    findings.push({
      about: 'relayer',
      ...(relayerKey
        ? okResult('has a key')
        : warningResult('has no key: nothing is relayed', advice)),
    })
  if (shareKeys.length === 0)
    findings.push({
      about: 'SHARE_KEY',
      ...warningResult('is not set', 'No wallet is generated without it.'),
    })
  if (roles.includes('api') && trustProxy === 0)
    findings.push({
      about: 'TRUST_PROXY',
      ...warningResult(
        'no proxy is trusted',
        'A public installation stands behind one that bounds the connections of an address.',
      ),
    })
  return findings
}
