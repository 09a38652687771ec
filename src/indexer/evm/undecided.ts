import type { DecodedLogs } from '../../chains/evm/decodeLogs.js'
import { DisagreementError, SilenceError, UndecidedError } from '../../chains/rpc/nodes.js'
import type { AlarmName } from '../../ops/alarms.js'

/** The UndecidedError that an error is or has as its cause. Null for other errors. */
export function findUndecidedError(error: unknown): UndecidedError | null {
  const { cause } = Object(error) as Error
  return [error, cause].find((one) => one instanceof UndecidedError) ?? null
}

export function alarmOfUndecidedError(error: UndecidedError | null): AlarmName | null {
  if (error instanceof DisagreementError) return 'ClusterdRpcContradiction'
  return error ? 'ClusterdRpcSilent' : null
}

/** Checks logs that only one node confirms. @throws SilenceError where the logs contain messages or payments */
export function assertLogsMoveNoMoney(logs: DecodedLogs): void {
  const { received, sent, payments, ends, credits } = logs
  const moving = [received, sent, payments, ends, credits].some((found) => found.length > 0)
  if (moving)
    throw new SilenceError('messages and payments wait for a second node, since one alone answers')
}
