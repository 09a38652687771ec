import { DISTRIBUTOR } from './distributor.js'
import { HUB_AND_SPOKE } from './hub.js'
import type { Mutation } from './mutation.js'
import { PAYMENTS } from './payments.js'
import { SOLANA } from './solana.js'

/**
 * Builds that break an invariant of the design on purpose, and the tests that have to fail in them: what crosses
 * processes, contracts and Rust. Rules of the registry and the relayer are left to Stryker (stryker.config.json).
 * `scripts/mutations.ts` makes each in a copy of the tree. A change that no longer applies (its text is gone) stops the
 * run: bring it up to date.
 */
export const INVARIANTS: Readonly<Record<number, string>> = {
  1: 'Nothing enters the journal before its chain’s policy confirms it; nothing that entered leaves',
  2: 'State is the fold of the journal; winners are those of the hub',
  3: 'A message is executed at most once, and never forgotten',
  4: 'finalized, lost_bid and invalid never change',
  5: 'The feed never changes or reorders; pages concatenate exactly',
  6: 'Nothing of a private wallet in a public answer',
  7: 'Every write is idempotent',
  8: 'Killed at any instruction, it goes on',
  9: 'No secret in a log',
  10: 'A contract’s money goes where its description says, and nowhere else',
}

const HUB = 'test/indexer/hub.test.ts'

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'an answer is kept after the journal has moved',
    invariant: 2,
    file: 'src/api/serving/memory.ts',
    find: '!kept || reading?.version !== version',
    replace: '!kept',
    tests: { files: ['test/api/memory.test.ts'], only: 'as new as the last commit' },
  },
  {
    name: 'the newest block counts as confirmed',
    invariant: 1,
    file: 'src/chains/evm/chain.ts',
    find: 'latest.number - confirmation.blocks',
    replace: 'latest.number',
    tests: { files: [HUB], only: 'confirms a bid at two blocks' },
  },
  {
    name: 'a hub of the default policy confirms the newest block instead of the finalized one',
    invariant: 1,
    file: 'src/chains/evm/chain.ts',
    find: '(tagged?.number ?? -1)',
    replace: 'latest.number',
    tests: { files: ['test/world/finalized.test.ts'] },
  },
  {
    name: 'parents of new blocks are not compared',
    invariant: 1,
    file: 'src/indexer/evm/tail.ts',
    find: 'if (hashAt(below)?.equals(fromHex(lowest.parentHash))) return headers',
    replace: 'if (hashAt(below)) return headers',
    tests: { files: [HUB], only: 'a confirmed block that is replaced halts the chain' },
  },
  {
    name: 'a wallet that becomes public takes a number that somebody has below the community',
    invariant: 2,
    file: 'src/db/journal/sliceCommunities.ts',
    find: 'wanted.map(numberedForms)',
    replace: 'wanted.map((name) => ({ ...numberedForms(name), high: name }))',
    tests: { files: ['test/model/clustersDb.test.ts'], only: 'as the rules in memory do' },
  },
  {
    name: 'a rewind leaves the names of the blocks it takes back',
    invariant: 2,
    file: 'src/db/journal/rewind/index.ts',
    find: 'at === null || at.chain !== chain || at.block < target.block',
    replace: 'at === null || at.chain !== chain || at.block >= 0',
    tests: { files: ['test/recovery/rewind.test.ts'], only: 'below its confirmation policy' },
  },
  ...HUB_AND_SPOKE,
  {
    name: 'a message counts as taken while the hub’s block is unconfirmed',
    invariant: 3,
    file: 'src/db/bridge/openMessages.ts',
    find: 'AND r.guid = m.guid AND r.confirmed`',
    replace: 'AND r.guid = m.guid`',
    tests: { files: ['test/relayer/rewind.test.ts'], only: 'is open until' },
  },
  {
    name: 'a replacement counts before it is confirmed',
    invariant: 4,
    file: 'src/chains/evm/chain.ts',
    find: 'rpc.onOneNode((call) => findByNonce(call, { sender, nonce, confirmed }))',
    replace: 'rpc.onOneNode((call) => findByNonce(call, { sender, nonce, confirmed: confirmed + 2 }))',
    tests: { files: ['test/indexer/replacement.test.ts', 'test/model/status.test.ts'] },
  },
  {
    name: 'a block counts as confirmed by a head that was read after the receipt',
    invariant: 4,
    file: 'src/chains/evm/transactions.ts',
    find: 'isConfirmed: block <= confirmed,',
    replace: 'isConfirmed: block <= confirmedNow,',
    tests: { files: ['test/indexer/replacement.test.ts'], only: 'moves it' },
  },
  {
    name: 'a page forgets where in an entry the last one ended',
    invariant: 5,
    file: 'src/api/feed/feed.ts',
    find: 'publicFirst === walk.first ? walk.skip : 0',
    replace: '0',
    tests: { files: ['test/api/events.test.ts'] },
  },
  {
    name: 'a token of an earlier generation is taken',
    invariant: 5,
    file: 'src/api/feed/feed.ts',
    find: '  if (generation !== null && generation !== stretch.generation) throw restarted()\n',
    replace: '',
    tests: { files: ['test/api/events.test.ts'] },
  },
  {
    name: 'a reverse look-up shows private entries',
    invariant: 6,
    file: 'src/db/registry/publicWallets.ts',
    find: ' AND NOT private',
    replace: '',
    tests: { files: ['test/api/lookups.test.ts'], only: 'absent from every public answer' },
  },
  {
    name: 'an event is dated by the private change before it',
    invariant: 6,
    file: 'src/registry/fold/index.ts',
    find: '    if (isUnseen(row)) head.atMs = previousMs\n',
    replace: '',
    tests: { files: ['test/privacy/twins.test.ts'], only: 'byte for byte' },
  },
  {
    name: 'a time bound finds the place of a private entry',
    invariant: 6,
    file: 'src/db/journal/feed.ts',
    find: 'j.generation = s.generation AND j.public_count > 0',
    replace: 'j.generation = s.generation',
    tests: { files: ['test/privacy/twins.test.ts'], only: 'same rows' },
  },
  {
    name: 'a cluster shows its private wallets to everybody',
    invariant: 6,
    file: 'src/db/registry/clusters.ts',
    find: 'AND w.private AND m.is_member',
    replace: 'AND w.private',
    tests: { files: ['test/privacy/wallets.test.ts'] },
  },
  {
    name: 'the claim of a private wallet’s airdrop is handed out unasked',
    invariant: 6,
    file: 'src/api/airdrops/offer.ts',
    find: "claimant.isPrivate && !link ? { reason: 'private_wallet' } : ",
    replace: '',
    tests: { files: ['test/api/airdrop.test.ts'], only: 'only where that is asked for' },
  },
  {
    name: 'an airdrop counts wallets that are only listed in a bundle',
    invariant: 6,
    file: 'src/db/airdrop/answers.ts',
    find: 'w.cluster = me.cluster AND w.verified',
    replace: 'w.cluster = me.cluster',
    tests: { files: ['test/api/airdrop.test.ts'], only: 'reveals nothing to anybody else' },
  },
  {
    name: 'a tail is written over the one that stands',
    invariant: 7,
    file: 'src/db/journal/tail.ts',
    find: "text: 'DELETE FROM facts WHERE network = $1 AND chain = $2 AND block >= $3'",
    replace: "text: 'DELETE FROM facts WHERE network = $1 AND chain = $2 AND block > $3 + 1000'",
    tests: { files: [HUB], only: 'block by block' },
  },
  {
    name: 'a leader that was followed by another one writes on',
    invariant: 7,
    file: 'src/db/journal/head.ts',
    find: 'AND l.epoch = $2 FOR UPDATE',
    replace: 'AND l.epoch >= $2 FOR UPDATE',
    tests: { files: [HUB], only: 'lost its epoch' },
  },
  {
    name: 'the checkpoint moves in a transaction of its own',
    invariant: 8,
    file: 'src/indexer/evm/write.ts',
    find: '  await moveCheckpoint(client, row, to)\n',
    replace: "  await client.query('COMMIT')\n  await client.query('BEGIN')\n  await moveCheckpoint(client, row, to)\n",
    tests: { files: ['test/recovery/kill.test.ts'], only: 'backfill.before_commit' },
  },
  {
    name: 'a rewind that is switched over leaves the checkpoint',
    invariant: 8,
    file: 'src/db/journal/rewind/rows.ts',
    find: 'SET next_block = $3, parent_hash = $4, halted = NULL',
    replace: 'SET parent_hash = coalesce($4, parent_hash), halted = NULL',
    tests: { files: ['test/relayer/rewind.test.ts'] },
  },
  {
    name: 'the log prints keys',
    invariant: 9,
    file: 'src/ops/log/log.ts',
    find: "  'relayerPrivateKey',\n",
    replace: '',
    tests: { files: ['src/ops/log/log.test.ts'] },
  },
  ...DISTRIBUTOR,
  ...PAYMENTS,
  ...SOLANA,
]
