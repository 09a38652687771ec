import { authRows } from './auth.js'
import { clusterRows } from './clusters.js'
import { communityRows } from './communities.js'
import { eventRows } from './events.js'
import { lookupRows } from './lookups.js'
import { objectRows } from './objects.js'
import { registrationRows } from './registration.js'
import type { Row } from './row.js'
import { SPECIFICATION } from './specification.js'

/** The checked rows, in the specification's order. */
export const ROWS: readonly Row[] = inOrder([
  ...objectRows,
  ...authRows,
  ...registrationRows,
  ...clusterRows,
  ...communityRows,
  ...lookupRows,
  ...eventRows,
])

/** Sorts rows by section (4.10 after 4.9), and within a section in the specification's order. */
function inOrder(rows: readonly Row[]): Row[] {
  const place = ({ section, row }: Row) => SPECIFICATION[section]?.indexOf(row) ?? -1
  const bySection = new Intl.Collator('en', { numeric: true })
  return [...rows].sort((a, b) => bySection.compare(a.section, b.section) || place(a) - place(b))
}
