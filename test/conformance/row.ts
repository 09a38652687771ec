import type { z } from 'zod'
import { NotChecked, type Target } from './target.js'

/** A row of a table of the interface's specification. */
export interface Row {
  /** Section of the specification: `4.5`. */
  section: string
  /** First column of the row, as in the specification. */
  row: string
  /** Throws where the deployment violates the row, NotChecked where the row can't be checked. */
  check(target: Target): Promise<void>
}

export type Result = Pick<Row, 'section' | 'row'> &
  ({ outcome: 'passed' } | { outcome: 'failed' | 'not checked'; reason: string })

export const row = (section: string, name: string, check: Row['check']): Row => ({
  section,
  row: name,
  check,
})

/** A row for each field of an object, with the form that the specification requires. */
export const fieldRows = (
  section: string,
  load: (target: Target) => Promise<Record<string, unknown>>,
  fields: Readonly<Record<string, z.ZodType>>,
): Row[] =>
  Object.entries(fields).map(([field, form]) =>
    row(section, field, async (target) => {
      const object = await target.once(`object of ${section}`, () => load(target))
      const parsed = form.safeParse(object[field])
      if (!parsed.success)
        throw new Error(
          `${field} is ${JSON.stringify(object[field])}: ${parsed.error.issues[0]?.message}`,
        )
    }),
  )

/** Checks a row. Any error counts as a failure of the row. */
export async function run({ section, row, check }: Row, target: Target): Promise<Result> {
  try {
    await check(target)
    return { section, row, outcome: 'passed' }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { section, row, outcome: error instanceof NotChecked ? 'not checked' : 'failed', reason }
  }
}
