import { execFileSync } from 'node:child_process'
import type { TextFile } from './tree.js'

/** Lines by hand of each room. The ceiling of all only falls: a room grows by what another gives in the same part. */
export const ROOMS: Readonly<Record<string, number>> = {
  '(top)': 970,
  api: 7_900,
  chains: 6_342,
  cli: 2_942,
  client: 937,
  config: 1_317,
  contracts: 48,
  db: 6_878,
  ens: 251,
  indexer: 2_199,
  ops: 1_092,
  push: 763,
  record: 331,
  registry: 4_628,
  relayer: 2_000,
  testing: 4_610,
  web: 3_738,
}

/** Openings of comments that are clauses or pronouns where a noun or a verb has to stand. */
const CLAUSE = /^\s*(?:\/\*\*|\*|\/\/)\s*(?:what|who|whose|where|whether|how|it|those|one)\b/i

/** Comments that begin with a clause, as `path:line`; lines that go on with a comment are none. */
export function clauseComments({ path, text }: TextFile): string[] {
  const lines = text.split('\n')
  const isLine = (line = '') => /^\s*\/\//.test(line)
  return lines.flatMap((line, i) => {
    const before = lines[i - 1] ?? ''
    const begins = isLine(line)
      ? !isLine(before)
      : /^\s*\/\*\*/.test(line) || /^\s*\/\*\*\s*$/.test(before)
    return begins && CLAUSE.test(line) ? [`${path}:${i + 1}`] : []
  })
}

/** Room of a file below src: its top folder, or `(top)`. */
export const roomOf = (path: string): string =>
  path.split('/').length > 2 ? path.split('/')[1]! : '(top)'

/** Last commit whose title may be of any length. */
const TITLES_SINCE = '74549359684b'
const TITLE_WIDTH = 72

/** Titles of commits that are too long; none where the history does not reach back far enough. */
export function longTitles(root: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
  try {
    return git('log', '--no-merges', '--format=%h %s', `${TITLES_SINCE}..HEAD`)
      .split('\n')
      .filter((line) => line.slice(line.indexOf(' ') + 1).length > TITLE_WIDTH)
  } catch {
    return []
  }
}
