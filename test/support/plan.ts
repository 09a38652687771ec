import type pg from 'pg'

/** A node of a plan as `EXPLAIN (FORMAT JSON)` shows it; rows and loops with ANALYZE alone. */
interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

const withInner = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(withInner)]

/** All nodes of the plan that an EXPLAIN (FORMAT JSON) has given. */
export const nodesOf = ({ rows }: pg.QueryResult): Plan[] =>
  withInner((rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan)

/** Rows that a plan node reads, including rows that a filter removes. */
export const rowsRead = (node: Plan): number =>
  node['Actual Loops'] *
  (node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0))
