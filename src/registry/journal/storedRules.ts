import { LRUCache } from 'lru-cache'
import type { CommunityRules } from '../community/rules.js'
import { decodeChange } from './change.js'

/** Maximum total length of the cached bodies. Decoding rules with a thousand addresses takes more than ten ms. */
const CACHE_BYTES = 8 * 1024 * 1024

const rulesByBody = new LRUCache<string, CommunityRules>({
  maxSize: CACHE_BYTES,
  sizeCalculation: (_, body) => body.length,
})

/**
 * Decodes the rules in the stored body of a `configure_community` entry. Results are cached by body and shared by all
 * readers.
 * @throws RangeError for a body that its schema refuses
 */
export function communityRulesOfBody(body: Buffer): CommunityRules {
  const text = body.toString('latin1')
  const known = rulesByBody.get(text)
  if (known) return known
  const { rules } = decodeChange('configure_community', body)
  rulesByBody.set(text, rules)
  return rules
}
