import { isoTimestamp } from '../../api/http/timestamps.js'
import {
  listOperatorActions,
  type StoredOperatorAction,
} from '../../db/deployment/operatorActions.js'
import { withDatabasePool } from '../database.js'
import { printList } from '../output.js'

const describeAction = ({
  osUser,
  role,
  command,
  outcome,
  beganMs,
  endedMs,
}: StoredOperatorAction) => ({
  beganAt: isoTimestamp(beganMs),
  endedAt: endedMs && isoTimestamp(endedMs),
  osUser,
  role,
  command,
  outcome,
})

/**
 * `clusterd journal actions`: lists the commands that operators ran. A command without an outcome is still running, or
 * was killed.
 */
export async function printRecordedCommands({
  limit,
  json,
}: {
  limit: number
  json?: boolean
}): Promise<void> {
  const actions = await withDatabasePool((pool) => listOperatorActions(pool, limit))
  printList(actions, {
    json,
    none: 'No command was run.',
    describe: describeAction,
    row: (action) => {
      const { osUser, role, command, outcome } = action
      return {
        began: isoTimestamp(action.beganMs),
        osUser,
        role,
        command,
        outcome: outcome ?? 'not ended',
      }
    },
  })
}
