import { describe, expect, it } from 'vitest'
import { linksOf, read, slugOf } from '../scripts/lint/documents.js'

/**
 * Questions of a first week, with the section that answers each and words of the answer. A reader starts at README.md
 * and reaches the section in at most two clicks.
 */
const QUESTIONS: readonly [question: string, page: string, anchor: string, words: string[]][] = [
  // who deploys it
  [
    'Which variables does a start need?',
    'docs/run/deploying.md',
    'variables',
    ['`DATABASE_URL`', '`TOKEN_KEY`', 'always'],
  ],
  [
    'How much memory does a process take?',
    'docs/run/deploying.md',
    'memory-by-load',
    ['MiB', 'idle', 'floods'],
  ],
  [
    'How long does the first sync take?',
    'docs/run/deploying.md',
    'what-you-need',
    ['first sync', 'registrations a second'],
  ],
  ['Do I need an archive node?', 'docs/run/deploying.md', 'what-you-need', ['No archive node']],
  [
    'Which plan do I need of an RPC provider?',
    'docs/run/deploying.md',
    'the-rpc-bill',
    ['calls a day'],
  ],
  [
    'How much gas money do a hundred registrations take?',
    'docs/run/deploying.md',
    'gas-for-a-hundred-registrations',
    ['gwei', 'ETH'],
  ],
  [
    'Can I rehearse the deployment?',
    'docs/run/deploying.md',
    'from-nothing-to-a-first-registration',
    ['rehearsal'],
  ],
  [
    'What does a name cost, and who sets that?',
    'docs/run/configuration.md',
    'what-is-deployed',
    ['`minimumWei` (0.01 ETH)'],
  ],
  // who runs it
  [
    'What do I do if TOKEN_KEY is stolen?',
    'docs/run/security.md',
    'when-a-key-is-stolen',
    ['`TOKEN_KEY`', 'set a new one'],
  ],
  [
    'What do I do if the relayer’s key is stolen?',
    'docs/run/security.md',
    'when-a-key-is-stolen',
    ['`pause`', '`setRelayer`'],
  ],
  ['How do I upgrade?', 'docs/run/operations.md', 'upgrading', ['one by one', 'clusterd migrate']],
  [
    'How do I restore a backup?',
    'docs/run/backup.md',
    'after-a-restore',
    ['clusterd journal restored'],
  ],
  [
    'How long is anything kept?',
    'docs/run/retention.md',
    'what-is-kept-and-for-how-long',
    ['30 days'],
  ],
  [
    'What is stable in 1.x?',
    'docs/run/changelog.md',
    'what-10-promises',
    ['`registry_v1`', 'types of events'],
  ],
  [
    'Which versions of Node does it run on, and until when?',
    'docs/run/changelog.md',
    'what-10-promises',
    ['20.19, 22.12, 24', 'last one for Node 20'],
  ],
  ['Who can take users’ money?', 'contracts/README.md', 'who-can-do-what', ["Hub's owner"]],
  // who builds on it
  [
    'What JSON does a look-up answer?',
    'docs/use/local-world.md',
    'first-requests',
    ['"clusterName": "seedling"', 'status 404'],
  ],
  [
    'How do I pay on Solana from code?',
    'docs/use/client.md',
    'a-registration-from-a-browser-wallet',
    ['VersionedTransaction', "network: 'solana'"],
  ],
  [
    'Does the client run in Jest and CommonJS?',
    'docs/use/client.md',
    'where-it-runs',
    ['Jest, CommonJS'],
  ],
  [
    'What does a status mean, and where is the money?',
    'docs/use/client.md',
    'statuses-and-money',
    ['`lost_bid`', 'owed back'],
  ],
  [
    'How do I lead the published SDK to my service?',
    'docs/use/interface-v0.1.md',
    'the-interface-v01',
    ['globalThis.fetch', '0.4.3'],
  ],
  [
    'How do I verify a second wallet?',
    'docs/use/clusters.md',
    'changes',
    ['`POST /v1/clusters/verify/:clusterId`'],
  ],
  [
    'Who sees a private wallet?',
    'docs/use/clusters.md',
    'private-wallets',
    ['Only the verified wallets'],
  ],
  ['How many requests may I send?', 'docs/use/limits.md', 'requests', ['50', '300']],
  ['How do I get each event once?', 'docs/use/events.md', 'as-a-stream', ['exactly once']],
  // who has contracts, or joins
  [
    'Which events does a contract of my own emit for `watchOnly`?',
    'docs/use/contract-authors.md',
    'events-that-a-watched-contract-emits',
    ['Bid(bytes32 from, uint256 amount, bytes32 name)', '`trust`'],
  ],
  [
    'How do I test a reorg?',
    'docs/use/contract-authors.md',
    'a-contract-of-your-own-beside-the-hub',
    ['reorg(depth)'],
  ],
  ['How do I report a weakness?', 'SECURITY.md', 'security', ['Report a vulnerability']],
  [
    'I added a field, and a test of recorded answers fails: what now?',
    'CONTRIBUTING.md',
    'recipes',
    ['npm run answers'],
  ],
]

const START = 'README.md'
const MOST_CLICKS = 2

/** A section: its heading, and everything up to the next heading of its level or above. Code has no headings. */
function sectionOf(page: string, anchor: string): string {
  let level = 0
  let isCode = false
  const lines: string[] = []
  for (const line of read(page).split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const [, marks, heading] = (!isCode && /^(#+) (.*)$/.exec(line)) || []
    if (marks && level > 0 && marks.length <= level) break
    if (marks && slugOf(heading!) === anchor) level = marks.length
    if (level > 0) lines.push(line)
  }
  return lines.join('\n')
}

/** Pages by the least number of clicks from the start; links to a heading count as links to its page. */
function clicksToPages(): ReadonlyMap<string, number> {
  const clicks = new Map([[START, 0]])
  for (const [page, count] of clicks)
    for (const { path } of linksOf(page))
      if (path.endsWith('.md') && !clicks.has(path)) clicks.set(path, count + 1)
  return clicks
}

const pages = clicksToPages()

/** Clicks to a section: by a link to it, or to its page and then in the page's outline. A page's title needs none. */
function clicksTo(page: string, anchor: string): number {
  const isTitle = sectionOf(page, anchor).startsWith('# ')
  const direct = [...pages].flatMap(([from, count]) =>
    linksOf(from).some((link) => link.path === page && link.anchor === anchor) ? [count + 1] : [],
  )
  return Math.min(...direct, (pages.get(page) ?? Infinity) + (isTitle ? 0 : 1))
}

describe('a reader of the README', () => {
  it.each(QUESTIONS)('finds in two clicks: %s', (_, page, anchor, words) => {
    const section = sectionOf(page, anchor)
    expect(words.filter((word) => !section.includes(word))).toEqual([])
    expect(clicksTo(page, anchor)).toBeLessThanOrEqual(MOST_CLICKS)
  })

  it('does not find what no page links, or what no section has', () => {
    expect(clicksTo('docs/llms.txt', 'clusterd')).toBe(Infinity)
    expect(sectionOf('docs/run/deploying.md', 'made-up')).toBe('')
  })
})
