import type { DecodedLogs } from '../../chains/evm/decodeLogs.js'
import { NodesDisagreeError, NodesSilentError, NoQuorumError } from '../../chains/rpc/nodes.js'
import type { AlarmName } from '../../ops/alarms.js'

/** The NoQuorumError that an error is or has as its cause. Null for other errors. */
export function findNoQuorumError(error: unknown): NoQuorumError | null {
  const { cause } = Object(error) as Error
  return [error, cause].find((one) => one instanceof NoQuorumError) ?? null
}

export function alarmOfNoQuorumError(error: NoQuorumError | null): AlarmName | null {
  if (error instanceof NodesDisagreeError) return 'ClusterdRpcContradiction'
  return error ? 'ClusterdRpcSilent' : null
}

/** Checks logs that only one node confirms. @throws NodesSilentError where the logs contain messages or payments */
export function assertLogsMoveNoMoney(logs: DecodedLogs): void {
  const { received, sent, payments, ends, credits } = logs
  const moving = [received, sent, payments, ends, credits].some((found) => found.length > 0)
  if (moving)
    throw new NodesSilentError(
      'messages and payments wait for a second node, since one alone answers',
    )
}
