import { z } from 'zod'
import { decodeBody, encodeBody, word } from './body.js'

/** The next slice of the names that leave a cluster (fold/moves.ts). */
const schema = z.strictObject({
  /** Cluster that the names leave. */
  clusterId: word,
})

export interface MoveContent extends z.output<typeof schema> {
  kind: 'move_names'
}

/** Encodes the body of a slice. @throws RangeError for an id that is no word */
export const encodeMove = (clusterId: Buffer): Buffer => encodeBody('move_names', schema, { clusterId })

/** Decodes the body of a slice. @throws RangeError */
export const decodeMove = (body: Buffer): MoveContent => ({
  kind: 'move_names',
  ...decodeBody('move_names', schema, body),
})
