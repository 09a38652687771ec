import type { ChainState } from '../ops/chainState.js'
import type { Progress } from './progress.js'

/** Callbacks of the workers that read chains. */
export interface Reporting {
  /** Called as soon as a worker has a state to show. */
  onStart(label: string, indexer: { readonly state: ChainState }): void
  /** Called after each step that took in blocks. @param isNews whether there was anything of ours in them */
  onAdvance(isNews: boolean): void
  onProgress(progress: Progress): void
}
