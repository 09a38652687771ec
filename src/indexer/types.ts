import type { ChainState } from '../ops/chainState.js'
import type { Progress } from './progress.js'

/** Callbacks of the workers that read chains. */
export interface Reporting {
  /** Called as soon as a worker has a state to show. */
  onStart(label: string, indexer: { readonly state: ChainState }): void
  /** Called after each step that may have brought payments. */
  onAdvance(): void
  onProgress(progress: Progress): void
}
