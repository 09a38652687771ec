import type { Problem } from './alarms.js'

/** Alarms that a part of the process has logged. `/status` shows each until that part ends it, or the process ends. */
export class RaisedAlarms {
  readonly #raised = new Map<string, Problem>()

  /** @param key names what the alarm is about; a later alarm of the same key takes its place */
  raise(key: string, problem: Problem): void {
    this.#raised.set(key, problem)
  }

  end(key: string): void {
    this.#raised.delete(key)
  }

  problems(): Problem[] {
    return [...this.#raised.values()]
  }
}
