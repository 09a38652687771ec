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

/** Whether a file is there, whole, and this user may read it. */
function isReadable(path: string, bytes: number): boolean {
  try {
    fs.accessSync(path, fs.constants.R_OK)
    return fs.statSync(path).size === bytes
  } catch {
    return false
  }
}

/** Whether the files of all that is archived are in the folder, and can be read. */
export async function archiveFinding(pool: pg.Pool, dir: string | undefined): Promise<Result> {
  const read = Promise.all(NETWORKS.map((network) => readArchives(pool, network)))
  const archives = (await read.catch(orNone)).flat()
  const dropped = archives.filter(({ droppedMs }) => droppedMs !== null)
  if (dir === undefined)
    return dropped.length === 0
      ? ok('nothing is read from files')
      : warn('ARCHIVE_DIR is not set', 'Archived pages are 503 here; set it for the roles api and index.')
  const missing = archives.filter(({ file, bytes }) => !isReadable(join(dir, file), bytes))
  if (missing.length === 0) return ok(`${archives.length} files, ${dropped.length} of them needed`)
  const named = `${missing.map(({ file }) => file).join(', ')} missing, of another length, or not for this user to read`
  const advice = `Put them back into ${dir} from a copy, readable by the daemon's user.`
  return missing.some(({ droppedMs }) => droppedMs !== null) ? bad(named, advice) : warn(named, advice)
}
