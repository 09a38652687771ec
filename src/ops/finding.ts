import { errorSentence } from './logger/errors.js'
import { withTimeout } from './waiting.js'

/** Level of a finding. `warn`: the service runs, with something missing. `bad`: it does not run, or not for long. */
export type FindingLevel = 'ok' | 'warn' | 'bad'

/** Result of a check of `clusterd doctor`, with advice where it is not `ok`. */
export interface DoctorFinding {
  /** Title: the chain or part, then what is checked of it after a comma. */
  about: string
  level: FindingLevel
  found: string
  advice?: string
  /** True if the check timed out, or too few of a chain's nodes gave a usable answer. */
  isOutage?: boolean
  /** True for the check of a single node of a chain. */
  isNode?: boolean
}

/** Result of a check without its title. */
export type DoctorCheckResult = Omit<DoctorFinding, 'about'>

/** Timeout of one check of `clusterd doctor`. */
const CHECK_TIMEOUT_MS = 15_000

export const okResult = (text: string): DoctorCheckResult => ({ level: 'ok', found: text })
export const warningResult = (text: string, advice: string): DoctorCheckResult => ({
  level: 'warn',
  found: text,
  advice,
})
export const failureResult = (text: string, advice: string): DoctorCheckResult => ({
  level: 'bad',
  found: text,
  advice,
})

/** Names of the errors that are thrown when too few of a chain's nodes give a usable answer. */
const CHAIN_OUTAGE_NAMES = [
  'ChainUnavailableError',
  'NoQuorumError',
  'NodesDisagreeError',
  'NodesSilentError',
  'WrongChainError',
]

/** Runs one check of `clusterd doctor`. @param advice shown where the check fails or takes too long */
export async function runDoctorCheck(
  about: string,
  advice: string,
  check: () => Promise<DoctorCheckResult>,
): Promise<DoctorFinding> {
  const late = {
    ...failureResult(`no answer within ${CHECK_TIMEOUT_MS / 1_000} s`, advice),
    isOutage: true,
  }
  const result = withTimeout(CHECK_TIMEOUT_MS, check(), late).catch((error: Error) => ({
    ...failureResult(errorSentence(error), advice),
    isOutage: CHAIN_OUTAGE_NAMES.includes(error.name),
  }))
  return { about, ...(await result) }
}

/** The chain that a finding is about: its title up to the first comma. */
const chainOf = ({ about }: DoctorFinding): string => about.split(',')[0]!

/**
 * Leaves out a chain's outages where the check of one of its nodes failed: the outages only follow from that failure.
 */
export function omitConsequentOutages(
  findings: readonly DoctorFinding[],
): readonly DoctorFinding[] {
  const away = new Set(
    findings.filter(({ isNode, level }) => isNode && level === 'bad').map(chainOf),
  )
  return findings.filter((one) => one.isNode || !one.isOutage || !away.has(chainOf(one)))
}
