import { inject } from 'vitest'
import { type PreparedPostgres, preparePostgres } from '../../src/testing/processes/postgres.js'
import { startProgramsFrom } from '../../src/testing/processes/programs.js'
import { copyMigrated } from '../support/migrated.js'
import { builtProgram } from './built.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of this run's built programs, which is made when the first of them is started. */
    programs: string
    postgres: PreparedPostgres
  }
}

startProgramsFrom((program) => builtProgram(inject('programs'), program))
preparePostgres(inject('postgres'))
copyMigrated(`${inject('postgres').template}-migrated`)
