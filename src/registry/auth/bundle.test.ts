import { createHash } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../../../test/setup/tiers.js'
import { seededRandomSequence } from '../../../test/support/random.js'
import { type Account, SIGNERS } from '../../../test/support/signers.js'
import { parseWalletOrNull } from '../primitives/address.js'
import { beginningLeaf } from '../transparencyLog/beginning.js'
import { LoggedBundle, type LoggedBundleOptions } from './bundle.js'
import { canonicalSignature, evidenceEntry, evidenceSignatureText } from './evidence.js'
import { type Membership, verificationMessage, walletBoundMessage } from './message.js'

/** Numbers of forged bundles and of true bundles that are checked. */
const FORGERY_COUNT = runsOf(10_000)
const BUNDLE_COUNT = runsOf(200)
const PATIENCE_MS = 300_000

const DOMAIN = 'names.example'
const NETWORK = 'mainnet'
const NAME = 'alice'
const MINUTE = 60_000
const START = Date.UTC(2026, 10, 20)
const clusterOf = (digit: number) => `0x${String(digit).repeat(64)}`
const CLUSTER = clusterOf(1)
const MEMBERSHIP: Membership = { network: NETWORK, clusterId: CLUSTER }
const OWNER = `0x${'ab'.repeat(20)}`

const keyOf = (i: number): Buffer => createHash('sha256').update(`member ${i}`).digest()
/** Accounts of all five families, of each key. */
const accountsOf = async (i: number): Promise<Account[]> =>
  (await Promise.all(Object.values(SIGNERS).map((kind) => kind.accounts(keyOf(i))))).flat()
const ACCOUNTS = (await Promise.all([0, 1].map(accountsOf))).flat()

const walletOf = (account: Account) => parseWalletOrNull(account.address)!

interface Signed {
  account: Account
  message: string
  signature: string
  ms: number
}

/** A signature of a wallet, in its canonical form. */
async function signed(
  account: Account,
  ms: number,
  { domain = DOMAIN, isBound = false, ...membership } = { ...MEMBERSHIP } as Membership & {
    domain?: string
    isBound?: boolean
  },
): Promise<Signed> {
  const wallet = walletOf(account)
  const signingDate = new Date(ms).toISOString()
  const nonce = '0'.repeat(32)
  const message = isBound
    ? walletBoundMessage({ domain, wallet, chainId: 1, nonce, signingDate, membership })
    : verificationMessage(domain, signingDate, membership)
  const signature = canonicalSignature(message, wallet, await account.sign(message))!
  return { account, message, signature, ms }
}

type Event = [type: string, at: number, from: string, data: object]
const listed = (address: string, at: number, is_verified = false, cluster_id = CLUSTER): Event => [
  'ADD_WALLET',
  at,
  OWNER,
  { name: 'main', address, cluster_id, is_verified, is_backed_up: false },
]
const of = (type: string, address: string, at: number, cluster_id = CLUSTER): Event => [
  type,
  at,
  address,
  { address, cluster_id },
]
const verified = (address: string, at: number) => of('VERIFY_WALLET', address, at)
const removed = (address: string, at: number) => of('REMOVE_WALLET', address, at)
const registered = (address: string, at: number, name: string, cluster_id = CLUSTER): Event => [
  'REGISTER_NAME',
  at,
  address,
  { name, wei_amount: '1', cluster_id },
]
/** Events that create the cluster and register its name. */
const CLUSTER_EVENTS: Event[] = [
  ['CREATE_CLUSTER', START, OWNER, { cluster_id: CLUSTER }],
  listed(OWNER, START, true),
  registered(OWNER, START, NAME),
]

const entryOf = ({ account, message, signature }: Omit<Signed, 'ms'>, atMs: number) =>
  evidenceEntry({
    atMs,
    wallet: walletOf(account),
    clusterId: CLUSTER,
    message,
    signature,
    block: null,
  })

/** Marks of the members, by their addresses, as the logs of these events and this evidence show them. */
async function marksOf(
  events: readonly Event[],
  evidence: readonly string[],
  { domains = [DOMAIN], isSignedByContract }: Partial<LoggedBundleOptions> = {},
) {
  const bundle = new LoggedBundle({
    name: NAME,
    clusterId: CLUSTER,
    network: NETWORK,
    domains,
    isSignedByContract,
  })
  const leaves = events
    .toSorted((a, b) => a[1] - b[1])
    .map(([type, at, from, data]) => JSON.stringify({ v: 1, type, at, from, data }))
  for (const [index, leaf] of [beginningLeaf('a/mainnet/1', null), ...leaves].entries())
    bundle.takeEvent(leaf, index)
  for (const [index, entry] of ['', ...evidence].entries()) bundle.takeEvidence(entry, index)
  expect(bundle.holder).toBe(CLUSTER)
  const wallets = await bundle.wallets()
  return new Map(
    wallets.map(({ address, evidence, signedAt }) => [address, { evidence, signedAt }]),
  )
}

/** Mark of one wallet. */
const markOf = async (account: Account, ...logs: Parameters<typeof marksOf>) =>
  (await marksOf(...logs)).get(account.address)?.evidence

const member = ACCOUNTS[0]!
const JOINED = [
  ...CLUSTER_EVENTS,
  listed(member.address, START),
  verified(member.address, START + MINUTE),
]

describe('evidence of a membership', () => {
  it.each(ACCOUNTS)('counts for $type $address, plain and bound', async (account) => {
    const joined = [
      ...CLUSTER_EVENTS,
      listed(account.address, START),
      verified(account.address, START + 9),
    ]
    for (const isBound of [false, true]) {
      const one = await signed(account, START + 5, { ...MEMBERSHIP, isBound })
      expect(one.message.endsWith('\n\nThis signature will be public.')).toBe(true)
      const marks = await marksOf(joined, [entryOf(one, START + 9)])
      expect(marks.get(account.address)).toEqual({
        evidence: 'signed',
        signedAt: new Date(START + 5).toISOString(),
      })
    }
  })

  it('counts if it was signed at most 11 minutes before its entry', async () => {
    const one = await signed(member, START + MINUTE)
    const markAt = (minutes: number) =>
      markOf(member, JOINED, [entryOf(one, START + minutes * MINUTE)])
    expect(await Promise.all([0, 1, 12].map(markAt))).toEqual(Array(3).fill('signed'))
    expect(await Promise.all([-0.1, 12.1, 500].map(markAt))).toEqual(Array(3).fill('unsigned'))
  })

  it('counts if it was signed after the wallet last left the cluster', async () => {
    const one = await signed(member, START + 10 * MINUTE)
    const backAfter = (left: number) => [
      ...JOINED,
      removed(member.address, START + left * MINUTE),
      listed(member.address, START + left * MINUTE),
      verified(member.address, START + 11 * MINUTE),
    ]
    const evidence = [entryOf(one, START + 11 * MINUTE)]
    expect(await markOf(member, backAfter(8), evidence)).toBe('signed')
    // a date may be a minute ahead of the time
    expect(await markOf(member, backAfter(9), evidence)).toBe('unsigned')
    expect(await markOf(member, backAfter(11), evidence)).toBe('unsigned')
  })

  it('does not count for a verification long after it', async () => {
    const one = await signed(member, START)
    const evidence = [entryOf(one, START)]
    const verifiedAfter = (minutes: number) => [
      ...CLUSTER_EVENTS,
      listed(member.address, START),
      verified(member.address, START + minutes * MINUTE),
    ]
    expect(await markOf(member, verifiedAfter(11), evidence)).toBe('signed')
    expect(await markOf(member, verifiedAfter(12), evidence)).toBe('unsigned')
  })

  it('counts for a wallet that became public later', async () => {
    const one = await signed(member, START + MINUTE)
    const published = [...CLUSTER_EVENTS, listed(member.address, START + 60 * MINUTE, true)]
    expect(await markOf(member, published, [entryOf(one, START + MINUTE)])).toBe('signed')
  })

  it.each([
    ['another cluster', { clusterId: clusterOf(2) }],
    ['another network', { network: 'testnet' as const }],
    ['another domain', { domain: 'other.example' }],
    ['a domain with a line break', { domain: `${DOMAIN} verification\n\n${DOMAIN}` }],
  ])('does not count for %s', async (_case, other) => {
    const one = await signed(member, START + MINUTE, { ...MEMBERSHIP, ...other })
    expect(await markOf(member, JOINED, [entryOf(one, START + MINUTE)])).toBe('unsigned')
  })

  it.each([
    ['without its last sentence', (text: string) => text.replace(/\n\n[^\n]*$/, '')],
    ['with another sentence', (text: string) => text.replace('will be', 'may be')],
    ['with a line more', (text: string) => `${text}\n`],
    ['that is a plain sign-in', (text: string) => text.replace(/\nNetwork[\s\S]*$/, '')],
  ])('does not count for a text %s', async (_case, alter) => {
    const message = alter(verificationMessage(DOMAIN, new Date(START).toISOString(), MEMBERSHIP))
    const signature = canonicalSignature(message, walletOf(member), await member.sign(message))!
    const entry = entryOf({ account: member, message, signature }, START)
    expect(await markOf(member, JOINED, [entry])).toBe('unsigned')
  })

  it('does not count for an unverified entry, and ends when the wallet goes', async () => {
    const evidence = [entryOf(await signed(member, START + MINUTE), START + MINUTE)]
    expect(await markOf(member, [...CLUSTER_EVENTS, listed(member.address, START)], evidence)).toBe(
      'unsigned',
    )
    const gone = [...JOINED, removed(member.address, START + 2 * MINUTE)]
    expect(await markOf(member, gone, evidence)).toBe(undefined)
  })

  it('has one form', async () => {
    for (const account of ACCOUNTS) {
      const { message, signature } = await signed(account, START)
      for (const form of formsOf(account, signature)) {
        const accepted = canonicalSignature(message, walletOf(account), form)
        expect([signature, null]).toContain(accepted)
        const entry = entryOf({ account, message, signature: form }, START)
        const joined = [...CLUSTER_EVENTS, listed(account.address, START, true)]
        if (form !== signature) expect(await markOf(account, joined, [entry])).toBe('unsigned')
      }
    }
  })

  it('is at most 1 KiB: a longer signature is a hash, and its chain is asked', async () => {
    const evm = ACCOUNTS.find(({ type }) => type === 'evm')!
    const { message } = await signed(evm, START)
    const long = { account: evm, message, signature: `0x${'1'.repeat(2_000)}` }
    expect(() => entryOf(long, START)).toThrow('longer than an entry')
    const of = { wallet: walletOf(evm), clusterId: CLUSTER, message, block: null }
    const kept = evidenceSignatureText({ ...of, signature: long.signature })
    expect(evidenceSignatureText({ ...of, signature: '0x11' })).toBe('0x11')
    const entry = entryOf({ ...long, signature: kept }, START)
    expect(Buffer.byteLength(entry)).toBeLessThanOrEqual(1_024)
    const hash = createHash('sha256').update(long.signature).digest('hex')
    expect(JSON.parse(entry).data.signature_hash).toBe(`0x${hash}`)
    const joined = [...CLUSTER_EVENTS, listed(evm.address, START, true)]
    expect(await markOf(evm, joined, [entry])).toBe('unsigned')
  })

  it('shows who registered a name for the cluster', async () => {
    const registers = registered(member.address, START + 2 * MINUTE, 'bob')
    expect(await markOf(member, [...JOINED, registers], [])).toBe('registered')
    const elsewhere = registered(member.address, START + 2 * MINUTE, 'bob', clusterOf(2))
    expect(await markOf(member, [...JOINED, elsewhere], [])).toBe('unsigned')
  })

  it('counts for an earlier or later domain of the service that the reader accepts', async () => {
    const one = await signed(member, START + MINUTE, { ...MEMBERSHIP, domain: 'new.example' })
    const logs = [JOINED, [entryOf(one, START + MINUTE)]] as const
    expect(await markOf(member, ...logs, { domains: [DOMAIN, 'new.example'] })).toBe('signed')
    expect(await markOf(member, ...logs)).toBe('unsigned')
  })

  it('asks a contract about its newest evidence first, and no more once one holds', async () => {
    const evm = ACCOUNTS.find(({ type }) => type === 'evm')!
    const asked: (string | null)[] = []
    const entries = []
    for (const minute of [1, 2, 3]) {
      const { message } = await signed(evm, START + minute * MINUTE)
      const one = { account: evm, message, signature: `0x0${minute}` }
      entries.push(entryOf(one, START + minute * MINUTE))
    }
    const joined = [...CLUSTER_EVENTS, listed(evm.address, START, true)]
    const marks = await marksOf(joined, entries, {
      async isSignedByContract({ signature }) {
        asked.push(signature)
        return signature === '0x02'
      },
    })
    expect(asked).toEqual(['0x03', '0x02'])
    expect(marks.get(evm.address)?.signedAt).toBe(new Date(START + 2 * MINUTE).toISOString())
  })

  it('fits an entry for the longest domain of a service', async () => {
    const domain = 'd'.repeat(60)
    for (const account of ACCOUNTS) {
      const one = await signed(account, START, { ...MEMBERSHIP, domain, isBound: true })
      expect(JSON.parse(entryOf(one, START)).data.signature).toBe(one.signature)
    }
  })

  it('says which cluster the log gives the name to', () => {
    const options = { name: NAME, clusterId: CLUSTER, network: NETWORK, domains: [DOMAIN] } as const
    const bundle = new LoggedBundle(options)
    const [type, at, from, data] = registered(OWNER, START, NAME, clusterOf(2))
    expect(bundle.holder).toBe(null)
    bundle.takeEvent(JSON.stringify({ v: 1, type, at, from, data }), 1)
    expect(bundle.holder).toBe(clusterOf(2))
  })
})

/** Other texts and bytes of a signature. */
function formsOf(account: Account, signature: string): string[] {
  const isHex = signature.startsWith('0x')
  const bytes = isHex ? Buffer.from(signature.slice(2), 'hex') : Buffer.from(signature)
  const forms = [signature.toUpperCase(), ` ${signature}`, bytes.toString('base64')]
  if (isHex) forms.push(signature.slice(2), `0x${signature.slice(2).toUpperCase()}`)
  if (account.type === 'evm') {
    const { r, s } = secp256k1.Signature.fromBytes(bytes.subarray(0, 64), 'compact')
    const high = new secp256k1.Signature(r, secp256k1.CURVE.n - s).toBytes('compact')
    const parity = bytes[64]! - 27
    const compact = Buffer.from(bytes.subarray(0, 64))
    compact[32]! |= parity << 7
    for (const v of [0, 1, 27, 28]) forms.push(`0x${Buffer.from([...high, v]).toString('hex')}`)
    forms.push(`0x${Buffer.from([...bytes.subarray(0, 64), parity]).toString('hex')}`)
    forms.push(`0x${compact.toString('hex')}`)
  }
  if (account.type === 'bitcoin' && bytes.length === 65)
    for (let header = 27; header < 43; header++)
      forms.push(`0x${Buffer.from([header, ...bytes.subarray(1)]).toString('hex')}`)
  return forms
}

it(
  `shows the true marks of ${BUNDLE_COUNT} random bundles of five families`,
  async () => {
    for (let seed = 0; seed < BUNDLE_COUNT; seed++) {
      const random = seededRandomSequence(seed)
      const pick = (count: number) => Math.floor(random() * count)
      const events = [...CLUSTER_EVENTS]
      const evidence: string[] = []
      const expected = new Map<string, string>([[OWNER, 'registered']])
      for (const account of ACCOUNTS.filter(() => pick(3) === 0)) {
        const { address } = account
        const at = START + pick(1_000) * MINUTE
        events.push(listed(address, at))
        const isMember = pick(5) > 0
        if (isMember) events.push(verified(address, at + MINUTE))
        let mark = 'unsigned'
        if (isMember && pick(2)) {
          events.push(registered(address, at + 2 * MINUTE, `n${events.length}`))
          mark = 'registered'
        }
        if (pick(2)) {
          const later = at + (isMember ? pick(50) : 0) * MINUTE
          const isBound = pick(2) > 0
          const one = await signed(account, later, { ...MEMBERSHIP, isBound })
          evidence.push(entryOf(one, later + MINUTE))
          if (isMember) mark = 'signed'
        }
        if (pick(4) === 0) {
          events.push(removed(address, at + 100 * MINUTE), listed(address, at + 101 * MINUTE))
          if (isMember) events.push(verified(address, at + 102 * MINUTE))
          mark = 'unsigned'
        }
        expected.set(address, mark)
      }
      const marks = await marksOf(events, evidence)
      const found = new Map([...marks].map(([address, mark]) => [address, mark.evidence]))
      expect(found, `seed ${seed}`).toEqual(expected)
    }
  },
  PATIENCE_MS,
)

it(
  `refuses ${FORGERY_COUNT} forgeries by whoever holds every key of the service`,
  async () => {
    // The first half of the wallets signed for this cluster, and left it. The other wallets signed for another cluster,
    // network or service.
    const half = ACCOUNTS.length / 2
    const others = [
      { clusterId: clusterOf(2) },
      { network: 'testnet' as const },
      { domain: 'other.example' },
    ]
    const pool: Signed[] = []
    const history = [...CLUSTER_EVENTS]
    for (const [i, account] of ACCOUNTS.entries()) {
      const isBound = i % 2 > 0
      if (i >= half)
        for (const other of others)
          pool.push(await signed(account, START + MINUTE, { ...MEMBERSHIP, isBound, ...other }))
      else {
        pool.push(await signed(account, START + MINUTE, { ...MEMBERSHIP, isBound }))
        history.push(listed(account.address, START), verified(account.address, START + MINUTE))
        history.push(removed(account.address, START + (2 + i) * MINUTE))
      }
    }
    const LAST = START + (3 + half) * MINUTE
    let accepted = 0
    for (let seed = 0; seed < FORGERY_COUNT; seed++) {
      const random = seededRandomSequence(seed)
      const pick = (count: number) => Math.floor(random() * count)
      const one = <T>(list: readonly T[]): T => list[pick(list.length)]!
      const victim = one(ACCOUNTS)
      // events can only be appended
      const at = LAST + pick(100) * MINUTE
      const events = [...history]
      if (pick(2)) events.push(listed(victim.address, at, true))
      else events.push(listed(victim.address, at), verified(victim.address, at + pick(2) * MINUTE))
      const stolen = one(pool)
      const dated = one([START + MINUTE, at, at - MINUTE])
      const message = one([
        () => stolen.message,
        () => stolen.message.replace(/Cluster: .*/, `Cluster: ${CLUSTER}`),
        () => stolen.message.replace('testnet', NETWORK).replace('other.example', DOMAIN),
        () => stolen.message.replace(/\d{4}-.*Z/, new Date(dated).toISOString()),
        () => verificationMessage(DOMAIN, new Date(dated).toISOString(), MEMBERSHIP),
        () =>
          walletBoundMessage({
            domain: DOMAIN,
            wallet: walletOf(victim),
            chainId: 1,
            nonce: '0'.repeat(32),
            signingDate: new Date(dated).toISOString(),
            membership: MEMBERSHIP,
          }),
      ])()
      const bent = Buffer.from(stolen.signature)
      bent[pick(bent.length)]! ^= 1 << pick(7)
      const signature = one([
        () => stolen.signature,
        () => one(pool).signature,
        () => bent.toString('latin1'),
        () => one(formsOf(stolen.account, stolen.signature)),
        () => `0x${'0'.repeat(128)}1b`,
        () => `0x01${'0'.repeat(190)}`,
        () => '',
      ])()
      const account = one([victim, stolen.account])
      const evidence = [entryOf({ account, message, signature }, one([dated, at, START + MINUTE]))]
      // the control: a new signature is accepted
      const isNew = seed % 100 === 0
      if (isNew) evidence.push(entryOf(await signed(victim, at), at))
      const marks = await marksOf(events, evidence)
      const wrong = [...marks].filter(([, mark]) => mark.evidence === 'signed')
      expect(wrong.length, `seed ${seed}`).toBe(isNew ? 1 : 0)
      accepted += wrong.length
    }
    expect(accepted).toBe(Math.ceil(FORGERY_COUNT / 100))
  },
  PATIENCE_MS,
)
