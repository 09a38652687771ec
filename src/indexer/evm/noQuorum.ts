import { NodesDisagreeError, NoQuorumError } from '../../chains/rpc/nodes.js'
import type { AlarmName } from '../../ops/alarms.js'

/** The NoQuorumError that an error is or has as its cause. Null for other errors. */
export function findNoQuorumError(error: unknown): NoQuorumError | null {
  const { cause } = Object(error) as Error
  return [error, cause].find((one) => one instanceof NoQuorumError) ?? null
}

export function alarmOfNoQuorumError(error: unknown): AlarmName | null {
  const noQuorum = findNoQuorumError(error)
  if (noQuorum instanceof NodesDisagreeError) return 'ClusterdRpcContradiction'
  return noQuorum && 'ClusterdRpcSilent'
}
