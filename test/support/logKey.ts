import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { LOCAL_SECRET_KEYS } from '../../src/testing/stackParts.js'

/** Public key of local worlds' logs, base64. */
export const LOCAL_LOG_KEY = logKeysOfSeeds([
  Buffer.from(LOCAL_SECRET_KEYS.LOG_KEY.slice(2), 'hex'),
])[0]!.publicKey.toString('base64')
