import fs from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { readArchives } from '../../db/journal/archive/archives.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import { bad, ok, type Result, warn } from './finding.js'

const UNDEFINED_TABLE = '42P01'

/** None before the migration. */
function orNone(error: pg.DatabaseError): [] {
  if (error.code === UNDEFINED_TABLE) return []
  throw error
}

/** Whether the files of all that is archived are in the folder. */
export async function archiveFinding(pool: pg.Pool, dir: string | undefined): Promise<Result> {
  const read = Promise.all(NETWORKS.map((network) => readArchives(pool, network)))
  const archives = (await read.catch(orNone)).flat()
  const dropped = archives.filter(({ droppedMs }) => droppedMs !== null)
  if (dir === undefined)
    return dropped.length === 0
      ? ok('nothing is read from files')
      : warn('ARCHIVE_DIR is not set', 'Pages of the feed that are archived are 503 here; set it where the API runs.')
  const missing = archives.filter(
    ({ file, bytes }) => fs.statSync(join(dir, file), { throwIfNoEntry: false })?.size !== bytes,
  )
  if (missing.length === 0) return ok(`${archives.length} files, ${dropped.length} of them needed`)
  const named = `${missing.map(({ file }) => file).join(', ')} missing, or of another length`
  const advice = `Put them back into ${dir} from a copy.`
  return missing.some(({ droppedMs }) => droppedMs !== null) ? bad(named, advice) : warn(named, advice)
}
