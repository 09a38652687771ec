import type { Difference, Recorded } from './answers.js'

/** What is answered in another way since the recorded build, and may be. */

interface Change {
  /** Method and path of the requests. */
  requests: RegExp
  /** Fields, in the form of `differences` in answers.ts. */
  fields: RegExp
  /** How docs/run/changelog.md names it. */
  changelog: string
}

const LOOK_UPS = /^(GET|POST) \/v[01.]+\/(names|name|address|cluster|clusters|wallets)\b/

export const CHANGES: readonly Change[] = [
  {
    requests: LOOK_UPS,
    fields: /^headers\.x-clusterd-as-of$/,
    changelog: '| look-ups | the header `x-clusterd-as-of`',
  },
  {
    requests: /./,
    fields: /^headers\.access-control-expose-headers$/,
    changelog: '| look-ups | the header `x-clusterd-as-of`',
  },
  {
    requests: /^GET \/v1\/names\/register\/tx\//,
    fields: /^body\.(network|paid|sender)$/,
    changelog: '| `GET /v1/names/register/tx/:tx` | also `network`, `paid` and `sender`',
  },
  {
    requests: /^GET \/v1\/names\/owner\/address\//,
    fields: /^body\[\]\.walletName$/,
    changelog: '| `GET /v1/names/owner/address/:address` | also `walletName`',
  },
  {
    requests: /^GET \/v1\/overview\b/,
    fields: /^body\.(bidWei|chains\[\]\.confirmSeconds)$/,
    changelog: '| `GET /v1/overview` | also `bidWei`, and `confirmSeconds` of each chain',
  },
  {
    requests: /^GET \/v1\/proof\b/,
    fields: /^body\.(checkpoint|trust|nodes|log)$/,
    changelog: '| `GET /v1/proof` | `trust`, `nodes` and `log`; no `checkpoint`',
  },
  {
    requests: /^POST \/v(1\/names|0\.1)\/register\//,
    fields: /^body\.message$/,
    changelog:
      '| `unsupported_network` of a quote | a sentence that names the networks of every route',
  },
  {
    requests: /^GET \/v1\/events\/checkpoint$/,
    fields: /./,
    changelog: '| `GET /v1/events/checkpoint` | gone',
  },
]

/** Fields of chains that the restored deployment does not have: Solana's. */
export const ABSENT_CHAIN = {
  requests: /^GET \/v1\/overview\b/,
  fields: /^body\.chains\[\]\.(block|confirmed|behindSeconds|isHealthy)$/,
}

/** Series of an account that no node of the restored deployment shows: Solana's. */
export const ABSENT_METRICS: readonly string[] = ['clusterd_relay_authority_lamports{network}']

type Place = Pick<Change, 'requests' | 'fields'>

export const isOf = (place: Place, { method, path }: Recorded, { field }: Difference): boolean =>
  place.requests.test(`${method} ${path}`) && place.fields.test(field)
