import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { filesIn } from '../../scripts/files.js'
import { READS } from '../scale/reads.js'

/** Functions of src/db that the interface uses and that are not measured here. */
const UNMEASURED: Readonly<Record<string, string>> = {
  ...asReason('writes rows by their key', [
    ...['addApiKey', 'removeApiKey', 'renameApiKey', 'lockBuckets', 'writeBuckets'],
    'withdrawFromBuckets',
    ...[
      'revokeSession',
      'revokeSessions',
      'openSession',
      'deleteSessionEvidence',
      'storeEncryptedKeyShare',
      'markRecoverySignatureUsed',
    ],
    ...['storeInvalidVerdict', 'storeTxSighting', 'storeReplacement', 'appendSignedChanges'],
    'storeWitnessedCheckpoint',
  ]),
  deleteFullBuckets: 'deletes a fixed number of rows',
  lockLiveSession: 'locks a row by its key',
  ...asReason('reads a table with a row per chain or process', [
    ...['findChain', 'readChainStates', 'readConfirmedBlocks', 'readFormerPaymentsContracts'],
  ]),
  readPageTokenKey: 'reads a table of one row',
  generateApiKey: 'asks no database',
}

function asReason(reason: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]))
}

/** Functions that src/api imports from the folders of src/db with tables. */
function imported(): string[] {
  const sources = filesIn('src/api').filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  )
  const names = sources.flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^import \{([^}]*)\} from '[^']*\/db\/(?!pg\/)[^']*'/gm,
      ),
    ].flatMap(([, list]) => list!.split(',').map((name) => name.trim())),
  )
  return [...new Set(names)].filter((name) => /^[a-z]\w*$/.test(name))
}

it('test/scale/reads.ts measures every read of the interface', () => {
  const measured = READS.map(([, , read]) => String(read)).join()
  const unknown = imported().filter(
    (name) => !new RegExp(`\\b${name}\\b`).test(measured) && !Object.hasOwn(UNMEASURED, name),
  )
  expect(unknown, 'functions that need a row in READS').toEqual([])
})

it('reasons are given only for functions that the interface uses', () => {
  expect(Object.keys(UNMEASURED).filter((name) => !imported().includes(name))).toEqual([])
})
